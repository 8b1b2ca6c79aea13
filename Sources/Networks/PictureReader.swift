import Foundation
import Posts
package import Transport

/// Downloads a picture from the address that its network gives.
///
/// The address comes from a network or an archive and is not trusted: the size is limited, the
/// picture's type is determined from its bytes, and neither the address nor its redirects may be on
/// this machine or its network, unless the operator's settings put the human's server there.
package struct PictureReader: Sendable {
    /// The result of a request for a picture.
    package enum Finding: Equatable, Sendable {
        case found([UInt8])
        /// The picture does not exist, or is not visible.
        case gone
        /// No request was made, because the address is without TLS, or is on this machine or its
        /// network.
        case notRequested
        case tooLarge
        /// The picture could not be read now; a later request may succeed.
        case unavailable(NetworkError.Code)
    }

    private static let maximumRedirects = 3

    private let client: HTTPClient
    private let contact: RequestContact
    /// The address of the server that may be on this machine or its network.
    private let trusted: String?

    /// - Parameters:
    ///   - server: The human's server in the operator's settings; nil if there is none.
    ///   - contact: The contact in the user agent.
    package init(
        client: HTTPClient, trusting server: String?, contact: RequestContact = RequestContact()
    ) {
        self.client = client
        self.contact = contact
        // The `try?` is nil for an address that cannot be used; then no server is trusted.
        trusted = server.flatMap { try? ServerAddress($0, network: .usual) }?.base
    }

    /// Reads a picture.
    ///
    /// - Parameters:
    ///   - maximumBytes: The largest accepted picture.
    /// - Throws: `CancellationError`.
    package func read(_ url: String, maximumBytes: Int) async throws -> Finding {
        var url = url
        for _ in 0...Self.maximumRedirects {
            guard let request = request(url, maximumBytes: maximumBytes) else {
                return .notRequested
            }
            let response: HTTPResponse
            do {
                response = try await client.send(request)
            } catch let error as TransportError {
                return Self.finding(error)
            }
            switch response.status {
            case 200 where !response.isCut:
                return response.body.isEmpty ? .gone : .found(response.body)
            case 301, 302, 303, 307, 308:
                guard let next = response.headers["Location"], next.hasPrefix("https://") else {
                    return .notRequested
                }
                url = next
            case 408, 425, 429, 500...: return .unavailable(.unavailable)
            default: return .gone
            }
        }
        return .gone
    }

    /// Returns the request for a picture; nil for an address on this machine or its network.
    private func request(_ url: String, maximumBytes: Int) -> HTTPRequest? {
        let isTrusted = if let trusted { url.hasPrefix(trusted + "/") } else { false }
        // The resolved address is checked when the connection is made.
        let host = URLComponents(string: url)?.host ?? ""
        guard isTrusted || !HostPlace.mayBeLocal(host.contains(":") ? "[\(host)]" : host) else {
            return nil
        }
        var request = HTTPRequest(
            url: url, headers: HTTPHeaders([("Accept", "image/*")]), maximumBodyBytes: maximumBytes,
            followsRedirects: true)
        request.isPublicOnly = !isTrusted
        request.contact = contact.text
        return request
    }

    private static func finding(_ error: TransportError) -> Finding {
        switch error.code {
        case .tooLarge: .tooLarge
        case .invalidURL, .forbiddenScheme, .invalidHeader: .notRequested
        default: .unavailable(.transport)
        }
    }
}
