package import Foundation
package import Posts

/// The answer to a request about one mirror.
package enum WebReply: Sendable {
    /// A page in the frame. Its status is 200; after a refusal 400 or 409.
    case page(PageContent)
    /// 303 to a path of this server; the next page of this session shows `saying` on top.
    case seeOther(String, saying: Said? = nil)
    /// A page that asks for a confirmation.
    case confirm(Confirmation)
    /// A file to save.
    case file(String, type: String, name: String)
    /// 404 with this text and a link back, for an item that does not exist (any more).
    case missing(String)
}

/// A page: a template, its context, and the values for the frame.
package struct PageContent: Sendable {
    package let template: PageTemplate
    /// The title of the window, as in "Today · mika · mirror-bot".
    package let title: String
    package let section: PageSection
    /// The page's path after `/m/NAME`.
    package let path: String
    package let context: PageContext
    /// Whether the page shows the verdict itself, so that the frame does not.
    package let showsVerdict: Bool
    /// The reason why nothing was done; set by ``MirrorRequest/attempt(refusedBy:_:)``.
    var refusal: Refusal?

    package init(
        _ template: PageTemplate, title: String? = nil, in section: PageSection,
        at path: String? = nil, showsVerdict: Bool = false,
        _ context: PageContext
    ) {
        self.template = template
        self.section = section
        self.path = path ?? section.path
        self.context = context
        self.title = title ?? section.title
        self.showsVerdict = showsVerdict
    }
}

/// A page that shows what an operation will do, and asks for a confirmation.
package struct Confirmation: Sendable {
    /// An item that the operation affects.
    package struct Thing: Sendable {
        package var at: Date?
        /// The id of a symbol, such as `a-favorite`; nil for none.
        package var symbol: String?
        /// The words for the item that precede the person's name, as "Favorite for ".
        package var what: String
        /// The name of the person concerned.
        package var whom: String?
        /// A text that somebody wrote.
        package var text: String?
        /// The BCP 47 tag of the text's language.
        package var language: String?

        package init(
            at: Date? = nil, symbol: String? = nil, _ what: String, whom: String? = nil,
            text: String? = nil,
            language: String? = nil
        ) {
            self.at = at
            self.symbol = symbol
            self.what = what
            self.whom = whom
            self.text = text
            self.language = language
        }
    }

    /// A field into which a person must type a given text; the operation compares the two.
    package struct Typed: Sendable {
        package let field: String
        /// The label of the field, as "Type the account to say yes: tom@social.example".
        package let label: String

        package init(_ field: String, _ label: String) {
            self.field = field
            self.label = label
        }
    }

    /// An optional text field that the operation reads.
    package struct Input: Sendable {
        package let field: String
        package let label: String
        /// The value that the field has before a person types.
        package var usual: String?
        /// Examples of valid input, as "18:30, 2026-11-24 or 6h".
        package var hint: String?

        package init(_ field: String, _ label: String, usual: String? = nil, hint: String? = nil) {
            self.field = field
            self.label = label
            self.usual = usual
            self.hint = hint
        }
    }

    package let section: PageSection
    /// The question, such as "Take back these three?".
    package let question: String
    package var lead: String?
    package var things: [Thing] = []
    /// Notes on what cannot be undone, how long it takes, and what it costs.
    package var notes: [String] = []
    /// The path below `/m/NAME` of the operation's own route.
    package let action: String
    package var fields: [(String, String)] = []
    package var seen: Seen?
    /// The button: the verb with the number, such as "Take back 3".
    package let verb: String
    /// Whether the button has the class `grave`, rather than `main`.
    package var isGrave = true
    package var typed: Typed?
    package var inputs: [Input] = []
    /// The link for not doing it, such as "Keep them".
    package let otherWay: String
    /// The path of the link for not doing it, below `/m/NAME`.
    package let back: String

    package init(
        in section: PageSection, _ question: String, action: String, verb: String, otherWay: String,
        back: String
    ) {
        self.section = section
        self.question = question
        self.action = action
        self.verb = verb
        self.otherWay = otherWay
        self.back = back
    }
}
