import Mustache

/// A template that is embedded in the program.
///
/// Each page declares its own beside its code, and registers them in ``MirrorPage/templates``:
/// ```swift
/// extension PageTemplate { static let hours = PageTemplate("hours", PackageResources.hours_mustache) }
/// ```
package struct PageTemplate: Sendable {
    /// The name by which other templates use it as a partial: `{{>slot}}`.
    let name: String
    let source: String

    init(_ name: String, _ bytes: [UInt8]) { (self.name, source) = (name, String(decoding: bytes, as: UTF8.self)) }
}

extension PageTemplate {
    static let head = PageTemplate("head", PackageResources.head_mustache)
    static let frame = PageTemplate("frame", PackageResources.frame_mustache)
    static let symbols = PageTemplate("symbols", PackageResources.symbols_mustache)
    static let band = PageTemplate("band", PackageResources.band_mustache)
    static let emblem = PageTemplate("emblem", PackageResources.emblem_mustache)
    static let plain = PageTemplate("plain", PackageResources.plain_mustache)
    static let login = PageTemplate("login", PackageResources.login_mustache)
    static let problem = PageTemplate("problem", PackageResources.problem_mustache)
    static let confirm = PageTemplate("confirm", PackageResources.confirm_mustache)
    static let index = PageTemplate("index", PackageResources.index_mustache)
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
        guard let text = library.render(PageValue.fields(context), withTemplate: template.name) else {
            preconditionFailure("template \(template.name) is not registered")
        }
        return Markup(rendered: text)
    }
}
