/// Waiting in real time.
enum Pause {
    /// Waits, and returns whether nobody cancelled it.
    @discardableResult
    static func wait(seconds: Double) async -> Bool {
        do {
            try await ContinuousClock().sleep(for: .seconds(seconds))
            return true
        } catch {
            return false
        }
    }
}
