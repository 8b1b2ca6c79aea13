import Embedded
import Foundation
import Localization
import Posts

/// A page as one file that a person can open and forward.
///
/// It has the style of the server's pages, and neither scripts nor external resources. It is
/// well-formed XML. Texts of others are escaped; see ``PageValue``.
package struct FilePage: Sendable {
    private static let style = Markup(rendered: EmbeddedFiles.text(of: "Web/style.css"))

    private let template: PageTemplate
    private let title: String
    private let subtitle: Markup
    private let context: PageContext

    /// - Parameters:
    ///   - template: The content, one of `TemplateLibrary.files`.
    ///   - title: The heading, and the title of the window.
    ///   - subtitle: The line beside the heading.
    ///   - context: The values of the template.
    package init(
        _ template: PageTemplate, title: String, subtitle: Markup, _ context: PageContext
    ) {
        self.template = template
        self.title = title
        self.subtitle = subtitle
        self.context = context
    }

    /// The HTML of the whole file.
    package var html: String {
        let library = TemplateLibrary.files
        return library.render(
            .file,
            [
                "pageLanguage": .text(Language.current.rawValue),
                "title": .text(title), "subtitle": .markup(subtitle),
                "style": .markup(Self.style),
                "content": .markup(library.render(template, context)),
            ]
        ).text
    }
}

extension PageTemplate {
    fileprivate static let file = PageTemplate("file")
    static let report = PageTemplate("report")
    static let personFile = PageTemplate("person-file")
    static let hoursPicture = PageTemplate("hours-picture")
    package static let rehearsal = PageTemplate("rehearsal")
    /// A text with the reason below it, in a cell of a table.
    static let quoted = PageTemplate("quoted")
}

extension TemplateLibrary {
    /// The templates of files.
    static let files: TemplateLibrary = {
        do {
            return try TemplateLibrary(PageTemplate.ofFiles)
        } catch {
            preconditionFailure("a template cannot be parsed: \(error)")
        }
    }()
}

extension PageTemplate {
    static let ofFiles: [PageTemplate] = [
        .file, .report, .personFile, .rehearsal, .hoursPicture, .quoted, .dial, .week, .words,
    ]
}

extension Words {
    /// Formats a time with its date, as `2026-05-28 20:26`, so that it is clear long afterwards.
    func dated(_ date: Date) -> Markup {
        time(date, showing: LocalTime(date, in: zone).description)
    }
}
