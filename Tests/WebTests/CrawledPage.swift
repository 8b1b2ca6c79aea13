import Foundation

/// A page as a person without script uses it: where its links lead, and what each of its buttons
/// sends.
///
/// Reads the marks of our own templates; `make check-pages` shows that they are HTML.
struct CrawledPage {
    /// A button, with what its form sends when it is pressed.
    struct Press {
        let path: String
        let isPost: Bool
        let fields: [(String, String)]
        /// What is written on the button.
        let label: String
    }

    /// The paths of this site that its links lead to, without the part behind `#`.
    private(set) var links: [String] = []
    /// The buttons that can be pressed with what ``typed(_:_:)`` gives.
    private(set) var presses: [Press] = []

    private static let tag = try? NSRegularExpression(
        pattern: #"<(/?)([a-z][a-z0-9]*)((?:\s+[^\s"=>]+(?:="[^"]*")?)*)\s*/?>"#)
    private static let attribute = try? NSRegularExpression(pattern: #"([^\s"=>]+)(?:="([^"]*)")?"#)

    /// A form that is being read.
    fileprivate struct Form {
        var path: String
        let isPost: Bool
        var fields: [(String, String)] = []
        var buttons: [(path: String?, field: (String, String)?, label: String)] = []
        /// Whether a field needs what only a person knows.
        var lacksWords = false
        /// The select that is being read, and the value that is chosen in it.
        var choice: (name: String, value: String?)?
    }

    init(_ html: String) {
        let text = html as NSString
        var form: Form?
        let tags =
            Self.tag?.matches(in: html, range: NSRange(location: 0, length: text.length)) ?? []
        for found in tags {
            let name = text.substring(with: found.range(at: 2))
            let attributes = Self.attributes(text.substring(with: found.range(at: 3)))
            if found.range(at: 1).length == 1 {
                if name == "form", let whole = form {
                    presses += Self.presses(of: whole)
                    form = nil
                } else if name == "select", let choice = form?.choice {
                    form?.fields.append((choice.name, choice.value ?? ""))
                    form?.choice = nil
                }
                continue
            }
            switch name {
            case "a": if let path = attributes["href"] { note(path) }
            case "form":
                // One that leads nowhere is the script's.
                form = attributes["action"].map {
                    Form(path: $0, isPost: attributes["method"] == "post")
                }
            case "input": form?.add(attributes, label: Self.label(for: attributes["id"], in: html))
            case "select": form?.choice = (attributes["name"] ?? "", nil)
            case "option":
                // A person chooses something where nothing is chosen yet.
                let isOpen = form?.choice?.value?.isEmpty ?? true
                guard isOpen || attributes["selected"] != nil && attributes["value"] != "" else {
                    continue
                }
                form?.choice?.value =
                    attributes["value"] ?? Self.text(behind: found.range, to: "<", in: text)
            case "button":
                let field = attributes["name"].map { ($0, attributes["value"] ?? "") }
                let label = Self.text(behind: found.range, to: "</button>", in: text)
                form?.buttons.append((attributes["formaction"], field, label))
            default: continue
            }
        }
    }

    private mutating func note(_ address: String) {
        let path = address.prefix { $0 != "#" }
        if path.hasPrefix("/") { links.append(String(path)) }
    }

    private static func presses(of form: Form) -> [Press] {
        guard !form.lacksWords else { return [] }
        return form.buttons.map { button in
            Press(
                path: button.path ?? form.path, isPost: form.isPost,
                fields: form.fields + (button.field.map { [$0] } ?? []), label: button.label)
        }
    }

    private static func attributes(_ text: String) -> [String: String] {
        let whole = text as NSString
        let found =
            attribute?.matches(in: text, range: NSRange(location: 0, length: whole.length)) ?? []
        let pairs = found.map { match in
            let value = match.range(at: 2)
            return (
                whole.substring(with: match.range(at: 1)),
                value.location == NSNotFound ? "" : unescaped(whole.substring(with: value))
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// The text of a label, for fields whose label says what is to be typed.
    private static func label(for id: String?, in html: String) -> String {
        guard let id, let begin = html.range(of: "<label for=\"\(id)\">"),
            let end = html.range(of: "</label>", range: begin.upperBound..<html.endIndex)
        else { return "" }
        return unescaped(String(html[begin.upperBound..<end.lowerBound]))
    }

    private static func text(behind tag: NSRange, to end: String, in html: NSString) -> String {
        let begin = tag.location + tag.length
        let stop = html.range(of: end, range: NSRange(location: begin, length: html.length - begin))
        guard stop.location != NSNotFound else { return "" }
        let marked = html.substring(with: NSRange(location: begin, length: stop.location - begin))
        return unescaped(
            marked.replacingOccurrences(of: "<[^>]*>", with: "", options: .regularExpression))
    }

    private static func unescaped(_ text: String) -> String {
        let signs = [
            ("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"),
        ]
        return signs.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}

extension CrawledPage.Form {
    /// Fills in a field, or notes that it cannot be filled in.
    fileprivate mutating func add(_ attributes: [String: String], label: String) {
        guard let name = attributes["name"] else { return }
        let value = attributes["value"] ?? ""
        switch attributes["type"] ?? "text" {
        case "hidden": fields.append((name, value))
        case "checkbox": if Self.ticked.contains(name) { fields.append((name, value)) }
        case "radio":
            guard attributes["checked"] != nil || !fields.contains(where: { $0.0 == name }) else {
                return
            }
            fields.removeAll { $0.0 == name }
            fields.append((name, value))
        default:
            if let typed = value.isEmpty ? Self.typed(name, label) : value {
                fields.append((name, typed))
            } else {
                lacksWords = true
            }
        }
    }

    private static let ticked: Set = ["id", "agrees", "consented"]

    /// What a person types into an empty field; nil where only the person knows it.
    private static func typed(_ field: String, _ label: String) -> String? {
        switch field {
        case "time": "23:17"
        case "until": "2026-05-29 18:00"
        case "post": "https://social.example/@mika/7"
        case "word": "rosemary"
        case "day": "12-24"
        case "from": "2020-03-01"
        case "to": "2020-06-30"
        case "zone": "Asia/Tokyo"
        case "account", "first": "pal@far.example"
        case "second": "pal@near.example"
        case "text": "a fine day at the lake"
        case "password": WebStand.password
        // The label ends with what is to be typed.
        case "sure": label.components(separatedBy: "to say yes: ").last
        // These may stay empty.
        case "q", "author", "reason", "on", "last", "undo": ""
        default: nil
        }
    }
}
