import Embedded
import Mustache

/// A template that is embedded in the program.
///
/// Each page declares its own beside its code, and registers them in ``MirrorPage/templates``:
/// ```swift
/// extension PageTemplate { static let hours = PageTemplate("hours") }
/// ```
package struct PageTemplate: Sendable {
    /// The name by which other templates use it as a partial: `{{>slot}}`.
    let name: String
    let source: String
}

extension PageTemplate {
    /// - Parameter name: The name of its file in `Resources/templates`, without `.mustache`.
    init(_ name: String) {
        self.init(name: name, source: EmbeddedFiles.text(of: "Web/templates/\(name).mustache"))
    }

    static let head = PageTemplate("head")
    static let frame = PageTemplate("frame")
    static let symbols = PageTemplate("symbols")
    static let band = PageTemplate("band")
    static let emblem = PageTemplate("emblem")
    static let plain = PageTemplate("plain")
    static let login = PageTemplate("login")
    static let comingBack = PageTemplate("coming-back")
    static let problem = PageTemplate("problem")
    static let confirm = PageTemplate("confirm")
    static let index = PageTemplate("index")
}

/// Templates, parsed once.
package struct TemplateLibrary: Sendable {
    private let library: MustacheLibrary

    /// - Throws: Mustache's error for a template that cannot be parsed.
    init(_ templates: [PageTemplate]) throws {
        var library = MustacheLibrary()
        for template in templates {
            // The values escape themselves; see `PageValue`.
            try library.register("{{% CONTENT_TYPE:TEXT}}" + template.source, named: template.name)
        }
        self.library = library
    }

    /// Fills a template.
    func render(_ template: PageTemplate, _ context: PageContext) -> Markup {
        guard let text = library.render(PageValue.fields(context), withTemplate: template.name)
        else {
            preconditionFailure("template \(template.name) is not registered")
        }
        return Markup(rendered: text)
    }
}
