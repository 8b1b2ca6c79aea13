import Foundation
import NetworkNames
import Posts
import TestSupport
import Testing
import Transport

@testable import Bluesky
@testable import Networks
@testable import X

/// What errors tell people to do is something that they can do.
@Suite struct WordingTests {
    @Test func nobodyIsToldToReplaceAPasswordThatIsNotThere() async throws {
        for password in [nil, BlueskyLoopback.password] {
            let loopback = try BlueskyLoopback(password: password) { request in
                request.method("com.atproto.repo.listRecords")
                    || request.method("com.atproto.server.getSession")
                    ? .xrpc("AuthenticationRequired", "Authentication Required", status: 401) : nil
            }
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.page(.ownPosts, .newest)
            }
            #expect(error.code == .unauthorized)
            #expect(error.stopsActor)
            #expect(error.description.contains("app password") == (password != nil))
            #expect(error.description.contains("with these credentials") == (password != nil))
            #expect(error.description.contains("no more calls are made"))
        }
    }

    @Test func aServerThatCannotBeOneHasNoCredentials() throws {
        let error = try #require(throws: NetworkError.self) {
            try ServerAddress("no host", network: .mastodon)
        }
        #expect(!error.description.contains("credentials"))
        #expect(error.description.contains("correct the setting"))
    }

    /// "Until that is done" follows something to do.
    @Test func whatIsToBeDoneIsNamed() {
        let stopping: [NetworkError.Code] = [
            .unauthorized, .missingScope, .accountDisabled, .configuration,
        ]
        for (network, code) in NetworkName.known.flatMap({ network in stopping.map { (network, $0) }
        }) {
            for operation in [NetworkError.Operation.logIn, .verifyAccount, .readHome, .publish] {
                for status in [nil, 401, 403] {
                    var error = NetworkError(
                        code: code, network: network, host: "a.example", operation: operation,
                        outcome: .refused)
                    error.status = status
                    let clauses = error.description.components(separatedBy: "; ")
                    let isPromised = clauses.last?.hasSuffix("until that is done") == true
                    let isNamed = clauses.dropFirst().dropLast().contains {
                        !$0.hasPrefix("request id")
                    }
                    #expect(isPromised == isNamed, "\(error)")
                    // Who logs in stands before the screen.
                    if code == .unauthorized { #expect(isNamed, "\(error)") }
                }
            }
        }
    }

    /// The second time with a new signature.
    @Test func whoseCredentialsTheyAreIsAskedTwiceAtMost() async throws {
        let loopback = try XLoopback { _ in .json(#"{"title":"Unauthorized"}"#, status: 401) }
        let error = try await XLoopback.failure(of: loopback.network, .verifyAccount)
        #expect(error.code == .unauthorized)
        #expect(loopback.server.requests.map(\.path) == ["/2/users/me", "/2/users/me"])
    }
}
