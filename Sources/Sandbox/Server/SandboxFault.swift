package import Foundation

/// What goes wrong with a request on purpose.
package enum SandboxFault: Equatable, Sendable {
    /// The connection ends before the server has done anything.
    case dropRequest
    /// The server acts, and the connection ends before an answer.
    case dropAnswer
    /// An answer instead of acting.
    case answer(status: Int, contentType: String, body: String, headers: [String: String])
    /// The server takes the request and hangs up at once; it acts when its clock has gone on by so many seconds.
    ///
    /// Whether the client may come in is decided as of the arrival, everything else as of the moment of acting: a post
    /// that was made with the same key in between is then recognised, a text that X has got in between is refused.
    case actLate(after: TimeInterval)
    /// As ``dropRequest``, but with a reset of the connection.
    case resetRequest
    /// As ``dropAnswer``, but with a reset of the connection.
    case resetAnswer
    /// The server acts, announces its whole answer, sends half of it and hangs up.
    case truncateAnswer
    /// The server acts and sends the body of its answer so slowly; in real time, whatever the sandbox's clock does.
    case drip(bytesPerSecond: Int)
    /// The server acts, and behind its answer comes white space until the client leaves.
    case endlessAnswer
    /// The server takes the request, does nothing, and says nothing until the client leaves.
    case hang

    /// An error page as a proxy in front of the server sends it.
    package static func html(status: Int) -> SandboxFault {
        .answer(
            status: status, contentType: "text/html", body: "<html><body><h1>\(status)</h1></body></html>",
            headers: [:])
    }

    /// An error as the server itself reports it.
    package static func error(status: Int, message: String, headers: [String: String] = [:]) -> SandboxFault {
        .answer(
            status: status, contentType: "application/json; charset=utf-8",
            body: String(decoding: (["error": .string(message)] as WireJSON).bytes, as: UTF8.self), headers: headers)
    }

    /// Whether the server acts, at once or later, and the client cannot get the whole answer.
    var cutsAnswer: Bool {
        switch self {
        case .dropAnswer, .actLate, .resetAnswer, .truncateAnswer, .endlessAnswer: true
        case .dropRequest, .resetRequest, .answer, .drip, .hang: false
        }
    }
}
