import Foundation
import Transport

/// One request: a method of XRPC, or a document that tells where an account lives.
struct BlueskyCall: Sendable {
    let operation: NetworkError.Operation
    let method: HTTPRequest.Method
    /// Path and query, encoded.
    let target: String
    /// Whether the server that keeps the account's records must answer, and not one that gathers everybody's.
    let isAboutRecords: Bool
    /// JSON; nil sends none.
    let body: [UInt8]?
    /// The largest body of an answer that is taken, in bytes.
    var maximumBytes = 8 << 20
    /// The beginning of a larger answer is an answer too.
    var takesBeginning = false

    /// A method that reads.
    init(_ operation: NetworkError.Operation, _ name: String, _ query: [(name: String, value: String)] = []) {
        self.operation = operation
        method = .get
        target = "/xrpc/\(name)" + (query.isEmpty ? "" : "?" + PercentEncoding.query(query))
        isAboutRecords = name.hasPrefix("com.atproto.repo.")
        body = nil
    }

    /// A method that changes something; the body may be empty.
    init(_ operation: NetworkError.Operation, _ name: String, body: [UInt8]) {
        self.operation = operation
        method = .post
        target = "/xrpc/\(name)"
        isAboutRecords = name.hasPrefix("com.atproto.repo.")
        self.body = body
    }

    /// A document of a DID.
    init(_ operation: NetworkError.Operation, document path: String) {
        self.operation = operation
        method = .get
        target = path
        isAboutRecords = false
        body = nil
    }
}
