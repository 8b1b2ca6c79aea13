import HTTPTypes
import Hummingbird
import Localization

/// Answers in the language that the browser prefers, or in the language of the process if the
/// browser accepts none of the program's languages (RFC 9110, section 12.5.4).
struct PageLanguage: RouterMiddleware {
    typealias Context = WebContext

    func handle(
        _ request: Request, context: WebContext,
        next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        let language =
            Self.preferred(by: request.headers[values: .acceptLanguage]) ?? .current
        var response = try await Language.$current.withValue(language) {
            try await next(request, context)
        }
        guard response.headers[.contentType]?.hasPrefix("text/html") == true else {
            return response
        }
        response.headers[.contentLanguage] = language.rawValue
        response.headers[values: .vary].append("Accept-Language")
        return response
    }

    /// Returns the language with the highest weight, and of several the first; nil if the browser
    /// accepts none of the program's languages.
    static func preferred(by fields: [String]) -> Language? {
        var best: (language: Language, weight: Double)?
        for (tag, weight) in WeightedValues(fields).entries {
            guard let language = Language(tag: tag), weight > best?.weight ?? 0 else { continue }
            best = (language, weight)
        }
        return best?.language
    }
}
