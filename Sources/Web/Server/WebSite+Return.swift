import Foundation
import HTTPTypes
import Hummingbird
import Localization

/// The redirect from the page of a network back to the set-up.
///
/// The session cookie is `SameSite=Strict`, so a browser does not send it with a request from
/// another site. The first such request is answered with a page that loads the same address again;
/// that second request comes from this site, and has the cookie.
extension WebSite {
    /// The parameters of the redirect (RFC 6749, section 4.1.2).
    private static let returnFields = ["code", "state", "error"]
    /// The parameter that marks the second request, so that there is no third.
    private static let reloadMark = "again"

    /// Whether a path is the one to which the page of a network redirects.
    private static func isReturn(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        return parts.count == 4 && parts[0] == "m"
            && "/\(parts[2])/\(parts[3])" == SetupPage.returnPath
    }

    /// The page that loads the address of a redirect again; `nil` for a request with a session
    /// cookie, for the second request, and for every other path.
    ///
    /// The page reveals nothing about this server, and the request changes nothing.
    func reloadPage(for request: Request) -> Response? {
        guard Self.isReturn(request.uri.path),
            sessions.sessions(of: request.headers, now: now).isEmpty
        else { return nil }
        let query = WebFields(encoded: request.uri.query ?? "") ?? .none
        guard query[Self.reloadMark] == nil else { return nil }
        let fields = Self.returnFields.map { ($0, query[$0]) } + [(Self.reloadMark, "1")]
        let sameAddress = Self.ownPath(request.uri.path) + WebFields.query(fields)
        let content = TemplateLibrary.standard.render(.comingBack, ["next": .text(sameAddress)])
        var response = standalonePage(
            content, title: localized("Back from the server"), status: .ok,
            theme: Self.theme(of: request))
        response.headers[.refresh] = "0;url=\(sameAddress)"
        return response
    }
}

extension HTTPField.Name {
    fileprivate static let refresh = named("Refresh")
}
