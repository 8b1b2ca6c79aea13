import Control
import Foundation
import Localization
import Mirroring
import Networks
import Posts
import Settings

extension RefusedAnswer {
    /// Prints why a network refused an answer, so that the question can be asked again.
    ///
    /// - Returns: The answer to ask for again.
    /// - Throws: `error` itself if nobody can answer, or no answer would help.
    static func reported(_ error: NetworkError) throws -> RefusedAnswer {
        guard Console.current.input.isInteractive, let answer = RefusedAnswer(error) else {
            throw error
        }
        StandardError.write(Failure.line(error))
        return answer
    }
}

/// A login at a terminal: the questions of the account's network, and the code that its page shows.
struct LoginConversation {
    let steps: LoginSteps
    let questions: [NetworkLogin.Question]
    /// The answers that were given as flags, as they were typed; nil for a field without a flag.
    let given: [AccountField: String?]
    /// The token or app password, if it was given.
    let token: Secret?

    func outcome() async throws -> GrantedLogin {
        var answers: NetworkLogin.Answers = [:]
        for question in questions { try ask(question, for: &answers) }
        while true {
            let progress: LoginProgress
            do {
                progress = try await steps.begin(answers)
            } catch let error as NetworkError {
                try askAgain(for: &answers, after: error)
                continue
            }
            switch progress {
            case .asksForCode(let pending): return try await askForCode(pending)
            case .granted(let login): return login
            }
        }
    }

    /// Asks again for the answers that the network may have refused; the others are kept.
    ///
    /// - Throws: `error` itself if no other answer would help.
    private func askAgain(
        for answers: inout NetworkLogin.Answers, after error: NetworkError
    ) throws {
        let refusal = try RefusedAnswer.reported(error)
        let refused = questions.filter { $0.refusals.contains(refusal) }
        guard !refused.isEmpty else { throw error }
        for question in refused { try ask(question, for: &answers, isRefused: true) }
    }

    /// Asks a question, unless its answer was given or the question that it follows has none.
    ///
    /// - Parameter isRefused: Whether the known answer was refused. It is proposed again if it may
    ///   be shown, because the server may only have been down.
    private func ask(
        _ question: NetworkLogin.Question, for answers: inout NetworkLogin.Answers,
        isRefused: Bool = false
    ) throws {
        let field = question.field
        // A missing answer counts as empty.
        if let precedingField = question.follows, answers[precedingField]?.isEmpty ?? true {
            answers[field] = nil
        } else if question.isToken, !isRefused, let token {
            answers[field] = token
        } else if question.privacy == .open, isRefused, let refused = answers[field]?.reveal() {
            answers[field] = Secret(
                try Question.answer(
                    localized("\(question.label) [\(refused)]: "), default: refused,
                    question.parse))
        } else {
            // A field without a flag, and a flag without a value, both give nil.
            let answerOfFlag: String? = given[field] ?? nil
            answers[field] = try answer(question, given: isRefused ? nil : answerOfFlag)
        }
    }

    private func answer(_ question: NetworkLogin.Question, given: String?) throws -> Secret {
        let prompt =
            question.form.map { localized("\(question.label) (\($0)): ") }
            ?? localized("\(question.label): ")
        // A person who has answered the question before this one must answer this one too.
        let isOptional = question.isOptional && question.follows == nil
        switch question.privacy {
        case .open:
            return Secret(try Question.answer(given: given, prompt, question.parse))
        case .masked:
            let typed =
                isOptional ? try Question.optionalLine(prompt) : try Question.answer(prompt) { $0 }
            return Secret(typed)
        case .secret:
            if let page = question.page {
                LoginPage(address: page, role: steps.role).show(
                    localized("make an \(question.label.lowercased()), and copy it"))
            }
            let secret =
                isOptional ? try Question.optionalSecret(prompt) : try Question.secret(prompt)
            return Secret(try Question.checked(secret.reveal(), question.parse))
        }
    }

    /// Asks for the code that a page of the network shows until the network accepts one.
    ///
    /// If a page allows only one attempt, a new one is opened after a refused code.
    private func askForCode(_ first: PendingLogin) async throws -> GrantedLogin {
        var pending = first
        show(pending)
        while true {
            let code = try Question.answer(localized("\(capitalized(pending.codeName)): ")) { $0 }
            do {
                return try await steps.finish(pending, code: code)
            } catch let error as NetworkError {
                let refusal = try RefusedAnswer.reported(error)
                if pending.beginAgain == nil {
                    StandardError.tell(localized("The same page shows another code."))
                } else {
                    guard refusal == .secret else { throw error }
                    pending = try await steps.renewed(pending)
                    show(pending)
                }
            }
        }
    }

    private func show(_ pending: PendingLogin) {
        LoginPage(address: pending.page, role: steps.role).show(
            localized("allow the access, and copy the \(pending.codeName)"))
    }

    private func capitalized(_ name: String) -> String {
        name.prefix(1).uppercased() + name.dropFirst()
    }
}
