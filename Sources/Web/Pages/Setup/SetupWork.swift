import Control
import Foundation
import Localization
import Logging
import Mirroring
import Posts
import Settings
import Synchronization

/// The parts of set-ups that exist only in the memory of this process: logins that wait for a
/// person, and running trainings.
///
/// They end with the process; after a restart a person repeats such a step.
package final class SetupWork: Sendable {
    /// The state of a login between two requests.
    enum Login: Sendable {
        /// The network shows a code, or will redirect the browser with one.
        case code(PendingLogin)
        /// The login is for another account than the last one, and a person has to agree.
        case replacement(OpenedLogin)
    }

    /// The state of a training that the setup has begun.
    enum Training: Sendable {
        case running(progress: TrainingProgress?)
        /// The training has ended; each sentence is about something that was read or left out.
        case done([String])
        /// The error, in words for a page.
        case failed(String)
    }

    /// The subject of a training.
    enum Subject: String, Sendable {
        case posts, favorites

        /// The step of the set-up with this training.
        var step: SetupStep.Kind {
            switch self {
            case .posts: .posts
            case .favorites: .favorites
            }
        }
    }

    /// A login whose code has arrived, and which is being finished.
    struct ClaimedLogin: Sendable {
        let role: AccountRole
        let network: NetworkName
        let pending: PendingLogin
        fileprivate let answers: Seen
        fileprivate let since: Date
    }

    private struct LoginKey: Hashable {
        let mirror: String
        let role: AccountRole
    }

    private struct WaitingLogin {
        let network: NetworkName
        /// A digest of the typed answers, which are not stored themselves because they contain
        /// secrets.
        let answers: Seen
        let since: Date
        var login: Login
    }

    private struct State {
        var logins: [LoginKey: WaitingLogin] = [:]
        var trainings: [String: (subject: Subject, state: Training)] = [:]
        var tasks: [String: Task<Void, Never>] = [:]
    }

    /// The most waiting logins; beyond this number the oldest is dropped.
    private static let mostLogins = 100
    /// Seconds after which a login no longer waits for its code.
    private static let loginTimeout: TimeInterval = 3_600

    private let state = Mutex(State())
    /// Starts the work for a mirror in a worker of this process, and returns whether there is such
    /// a worker; nil if this process runs no worker.
    let begin: (@Sendable (_ mirror: String) -> Bool)?

    /// - Parameter begin: Starts the work for a mirror in a worker of this process, and returns
    ///   whether there is such a worker.
    package init(begin: (@Sendable (_ mirror: String) -> Bool)? = nil) { self.begin = begin }

    // MARK: Logins

    /// The waiting login, with its network.
    func login(of role: AccountRole, in mirror: String, now: Date) -> (
        network: NetworkName, login: Login
    )? {
        waitingLogin(role, mirror, now).map { ($0.network, $0.login) }
    }

    /// Whether a login with the same answers already waits for its code, so that no second one need
    /// be begun at the network.
    func isPending(
        _ role: AccountRole, of mirror: String, on network: NetworkName,
        _ answers: [String: String], now: Date
    ) -> Bool {
        guard let waiting = waitingLogin(role, mirror, now), case .code = waiting.login else {
            return false
        }
        return waiting.network == network && waiting.answers == Self.digest(answers)
    }

    private func waitingLogin(_ role: AccountRole, _ mirror: String, _ now: Date) -> WaitingLogin? {
        state.withLock { state in
            let key = LoginKey(mirror: mirror, role: role)
            guard let waiting = state.logins[key], now < waiting.since + Self.loginTimeout else {
                state.logins[key] = nil
                return nil
            }
            return waiting
        }
    }

    /// Stores a login until the person continues it.
    func keep(
        _ login: Login, of role: AccountRole, in mirror: String, on network: NetworkName,
        _ answers: [String: String] = [:], now: Date
    ) {
        state.withLock { state in
            let key = LoginKey(mirror: mirror, role: role)
            state.logins[key] = WaitingLogin(
                network: network, answers: Self.digest(answers), since: now, login: login)
            guard state.logins.count > Self.mostLogins,
                let oldest = state.logins.min(by: { $0.value.since < $1.value.since })
            else { return }
            state.logins[oldest.key] = nil
        }
    }

    /// Replaces the state of a waiting login; its answers stay.
    func update(_ login: Login, of role: AccountRole, in mirror: String) {
        state.withLock { $0.logins[LoginKey(mirror: mirror, role: role)]?.login = login }
    }

    /// Removes and returns the login with this `state`, so that its code is sent to the network
    /// only once.
    ///
    /// - Returns: `nil` if no login of the mirror waits with this `state`.
    func claimLogin(state text: String, in mirror: String, now: Date) -> ClaimedLogin? {
        state.withLock { state in
            for role in AccountRole.allCases {
                let key = LoginKey(mirror: mirror, role: role)
                guard let waiting = state.logins[key], now < waiting.since + Self.loginTimeout,
                    case .code(let pending) = waiting.login, pending.hasState(text)
                else { continue }
                state.logins[key] = nil
                return ClaimedLogin(
                    role: role, network: waiting.network, pending: pending,
                    answers: waiting.answers,
                    since: waiting.since)
            }
            return nil
        }
    }

    /// Lets an unfinished login wait again, unless another login of its account waits already.
    func putBack(_ login: ClaimedLogin, in mirror: String) {
        state.withLock { state in
            let key = LoginKey(mirror: mirror, role: login.role)
            guard state.logins[key] == nil else { return }
            state.logins[key] = WaitingLogin(
                network: login.network, answers: login.answers, since: login.since,
                login: .code(login.pending))
        }
    }

    func forgetLogin(of role: AccountRole, in mirror: String) {
        state.withLock { $0.logins[LoginKey(mirror: mirror, role: role)] = nil }
    }

    private static func digest(_ answers: [String: String]) -> Seen {
        Seen(of: answers.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
    }

    // MARK: Trainings

    /// The last training of a mirror in this process.
    func training(of mirror: String) -> (subject: Subject, state: Training)? {
        state.withLock { $0.trainings[mirror] }
    }

    /// Starts a training in the background, unless one of the mirror runs.
    ///
    /// - Parameters:
    ///   - subject: The subject of the training.
    ///   - source: The source of the posts.
    ///   - mirror: The mirror that learns.
    ///   - end: Runs after the training, also after an error.
    /// - Returns: False if a training of the mirror runs.
    func train(
        _ subject: Subject, from source: TrainingSource, for mirror: HumanMirror,
        afterwards end: @escaping @Sendable () async -> Void = {}
    ) -> Bool {
        let name = mirror.name
        return state.withLock { state in
            if case .running = state.trainings[name]?.state { return false }
            state.trainings[name] = (subject, .running(progress: nil))
            state.tasks[name] = Task { [self] in
                let report: @Sendable (TrainingProgress) -> Void = { progress in
                    self.note(.running(progress: progress), of: name)
                }
                let outcome: Training
                do {
                    outcome = .done(try await Self.sentences(subject, source, mirror, report))
                } catch {
                    outcome = .failed(Self.words(error, of: mirror))
                }
                await end()
                note(outcome, of: name)
            }
            return true
        }
    }

    private static func sentences(
        _ subject: Subject, _ source: TrainingSource, _ mirror: HumanMirror,
        _ report: @escaping @Sendable (TrainingProgress) -> Void
    ) async throws -> [String] {
        switch subject {
        case .posts:
            let outcome = try await mirror.trainScheduler(from: source, report: report)
            return outcome.reading.sentences
                + [localized("The archive holds \(Words.count(outcome.archived, "post")).")]
        case .favorites:
            let outcome = try await mirror.trainClassifier(from: source, report: report)
            return outcome.reading.sentences
                + [outcome.waiting, outcome.countsProblem].compactMap { $0.map(Words.sentence) }
        }
    }

    /// Returns the reason why a training failed, for a page.
    private static func words(_ error: any Error, of mirror: HumanMirror) -> String {
        if error is CancellationError { return localized("It was stopped.") }
        guard SetupPosition.isMendable(error) else {
            // The text of the error is not logged, because it may contain texts of people.
            mirror.logger.error(
                "Training on the page failed", metadata: ["type": "\(type(of: error))"])
            let problem = WebProblem(error)
            return [problem.title, problem.text].joined(by: .sentence)
        }
        let sentence = (error as? ChangeRefusal)?.text.page ?? "\(error)".withoutCommands
        return Words.sentence(sentence)
    }

    private func note(_ training: Training, of mirror: String) {
        state.withLock { $0.trainings[mirror]?.state = training }
    }

    /// Stops the trainings, and waits for their end.
    func end() async {
        let tasks = state.withLock { state in
            defer { state.tasks = [:] }
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}

extension String {
    /// The sentence without the clauses that name a command, because the set-up itself leads
    /// through the steps.
    var withoutCommands: String {
        let separators =
            switch Language.current {
            case .english: ["; "]
            case .japanese: ["; ", "；", "。"]
            }
        return separators.reduce(self) { sentence, separator in
            let clauses = sentence.components(separatedBy: separator)
            let keptClauses =
                clauses.prefix(1) + clauses.dropFirst().filter { !$0.contains("mirror-bot ") }
            return keptClauses.joined(separator: separator)
        }
    }
}

extension TrainingReading {
    /// Sentences about the posts that were read and left out.
    fileprivate var sentences: [String] {
        archive.map(Words.sentence)
            + [
                localized(
                    "\(Words.count(read, "post")) read, \(Words.number(learned)) of them new.")
            ]
            + leftOut.map { localized("\(Words.number($0.count)) left out: \($0.reason).") }
            + missing.map(Words.sentence)
    }
}
