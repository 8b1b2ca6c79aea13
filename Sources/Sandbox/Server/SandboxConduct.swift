/// Counts the bot's answers against the courtesy caps.
struct SandboxConduct: Sendable {
    let perPersonAndDay: Int
    let perThread: Int
    private var byPersonAndDay: [PersonDay: Int] = [:]
    private var byThread: [Int: Int] = [:]

    init(_ configuration: SandboxWorld.Configuration) {
        perPersonAndDay = configuration.repliesPerPersonAndDay
        perThread = configuration.repliesPerThread
    }

    mutating func objection(toAnswering key: PersonDay, thread: Int?) -> String? {
        byPersonAndDay[key, default: 0] += 1
        if let thread { byThread[thread, default: 0] += 1 }
        if byPersonAndDay[key, default: 0] > perPersonAndDay { return "too many answers in a day" }
        if let thread, byThread[thread, default: 0] > perThread {
            return "too many answers in a conversation"
        }
        return nil
    }
}
