import Embedded
import Localization
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

/// Templates, parsed once for each language.
package struct TemplateLibrary: Sendable {
    private let libraries: [Language: MustacheLibrary]

    /// - Throws: Mustache's error for a template that cannot be parsed.
    init(_ templates: [PageTemplate]) throws {
        var libraries: [Language: MustacheLibrary] = [:]
        for language in Language.allCases {
            let table = Translations.table(of: language)
            var library = MustacheLibrary()
            for template in templates {
                let source = TemplateText(template.source).translated(by: table)
                // The values escape themselves; see `PageValue`.
                try library.register("{{% CONTENT_TYPE:TEXT}}" + source, named: template.name)
            }
            libraries[language] = library
        }
        self.libraries = libraries
    }

    /// Fills a template in the language of the present task.
    func render(_ template: PageTemplate, _ context: PageContext) -> Markup {
        let library = libraries[.current]
        guard
            let text = library?.render(PageValue.fields(context), withTemplate: template.name)
        else {
            preconditionFailure("template \(template.name) is not registered")
        }
        return Markup(rendered: text)
    }
}
