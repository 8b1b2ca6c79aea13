/// Counts the bot's answers against the courtesy caps.
struct SandboxConduct: Sendable {
    private var byPersonAndDay: [PersonDay: Int] = [:]
    private var byThread: [Int: Int] = [:]

    mutating func objection(toAnswering key: PersonDay, thread: Int?) -> String? {
        byPersonAndDay[key, default: 0] += 1
        if let thread { byThread[thread, default: 0] += 1 }
        if byPersonAndDay[key, default: 0] > SandboxScript.repliesPerPersonAndDay { return "too many answers in a day" }
        if let thread, byThread[thread, default: 0] > SandboxScript.repliesPerThread {
            return "too many answers in a conversation"
        }
        return nil
    }
}
