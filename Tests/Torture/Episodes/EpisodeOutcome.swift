/// What came of one episode.
struct EpisodeOutcome: Sendable {
    /// Workers that died by `SIGKILL`, their own included.
    var kills = 0
    /// The fault points that a worker came to, as the plan wanted.
    var reached: [String] = []
    /// Those that it did not come to while anybody waited for it.
    var missed: [String] = []
    var stopped: [StoppedWorker] = []
    /// What should not have happened, a line each.
    var findings: [String] = []
}
