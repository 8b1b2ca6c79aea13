import Foundation
import Posts
import Transport

/// What an answer with an error means.
extension XClient {
    /// An error about a call, with what is the same for all.
    func error(
        _ call: XCall, _ code: NetworkError.Code, outcome: NetworkError.Outcome, detail: String? = nil
    ) -> NetworkError {
        NetworkError(
            code: code, network: .x, host: server.host, operation: call.operation, detail: detail, outcome: outcome)
    }

    /// What the transport's failure means for a call.
    func failure(_ call: XCall, _ cause: TransportError) -> NetworkError {
        error(
            call, cause.networkCode, outcome: cause.outcome, detail: redacted(PlainText.cleaned(cause.message)))
    }

    /// What an answer with a good status that cannot be understood means for a call: a write may have happened.
    func malformed(_ call: XCall, _ response: HTTPResponse, detail: String) -> NetworkError {
        var failure = error(call, .malformedResponse, outcome: .unknown, detail: detail)
        failure.status = response.status
        failure.requestID = requestID(in: response)
        return failure
    }

    /// What an answer with a bad status means for a call; what concerns later calls too is remembered.
    func refuse(_ call: XCall, _ response: HTTPResponse) -> NetworkError {
        refuse(call, response, XErrorBody(response.body))
    }

    /// What problems in an answer with a good status mean for a call that got nothing else.
    func refuse(_ call: XCall, _ response: HTTPResponse, problems: [XProblem]) -> NetworkError {
        refuse(call, response, XErrorBody(problems: problems))
    }

    private func refuse(_ call: XCall, _ response: HTTPResponse, _ body: XErrorBody) -> NetworkError {
        let pacing = XPacing(response.headers, receivedAt: now())
        let refusal = XRefusal(
            status: response.status, body: body, isVerifying: call.operation == .verifyAccount, pacing: pacing)
        var failure = error(call, refusal.code, outcome: refusal.outcome, detail: refusal.detail)
        failure.status = response.status
        failure.serverCode = message(of: body)
        failure.requestID = requestID(in: response)
        failure.retryAfter = refusal.retryAfter
        switch refusal.pause {
        case .nothing: break
        case .endpoint: memory.pause(.endpoint(call.endpoint), for: failure, at: now())
        case .everything: memory.pause(.everything, for: failure, at: now())
        }
        return failure
    }

    /// What X says, in the fields where it says it, made fit to print.
    ///
    /// Nothing else of a body is ever kept, and no markup: it may be a page of somebody's proxy.
    private func message(of body: XErrorBody) -> String? {
        let name = body.problems.lazy.compactMap { $0.kind ?? $0.code.map(String.init) }.first
        let said = body.problems.lazy.compactMap { $0.detail ?? $0.title }.first { !$0.isEmpty && !$0.contains("<") }
        return ErrorText.words([name, said].compactMap(\.self).joined(separator: ": "), redact: redacted)
    }

    private func requestID(in response: HTTPResponse) -> String? {
        ["x-transaction-id", "X-Request-Id"].lazy
            .compactMap { ErrorText.requestID(response.headers[$0], redact: redacted) }.first
    }

    private func redacted(_ text: String) -> String {
        Secret.redacted(signer.secrets, from: text)
    }
}

/// The problems that the body of a refusal names, the one of the body itself first.
struct XErrorBody: Decodable {
    let problems: [XProblem]

    init(problems: [XProblem]) {
        self.problems = problems
    }

    /// Without problems if the body is not the JSON of an error.
    init(_ body: [UInt8]) {
        let decoded = body.count <= ErrorText.maximumBody ? JSONBody.decoded(XErrorBody.self, body) : nil
        self = decoded ?? XErrorBody(problems: [])
    }

    private enum CodingKeys: CodingKey {
        case errors
    }

    init(from decoder: any Decoder) throws {
        let own = try XProblem(from: decoder)
        let listed = try decoder.container(keyedBy: CodingKeys.self).list(of: XProblem.self, .errors)
        problems = [own] + listed
    }
}
