import Control
import Foundation
import Mirroring

/// Watches whether the machine gives this process, the workers and the servers of their stores a
/// processor when they want one, and what they want of its disk, and notes when it does not.
///
/// On a thread of its own, since tasks would share what there is too little of.
final class StarvationWatch: @unchecked Sendable {
    // Sendable because `isOver` is only touched under `condition`, and the other variables by the
    // one thread.

    /// How long it is from one sample to the next, in real seconds.
    private static let period: TimeInterval = 0.15
    /// After how many samples it is looked which threads there are: that costs more than to ask
    /// them.
    private static let listPeriod = 6

    private let timeline: Timeline
    private let clock: AcceleratedClock
    private let tree = ProcessTree(root: ProcessInfo.processInfo.processIdentifier)
    private let condition = NSCondition()
    private var isOver = false
    private var rule: StarvationRule
    private var threads: [ProcessTree.Thread] = []
    private var count = 0

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - timeline: Told of every stretch.
    ///   - clock: The one of the timeline.
    ///   - factor: How many times as fast that runs.
    init(timeline: Timeline, clock: AcceleratedClock, factor: Double) {
        self.timeline = timeline
        self.clock = clock
        rule = StarvationRule(factor: factor, period: Self.period)
        Thread { [self] in
            Thread.current.name = "starvation"
            repeat { sample() } while isToGoOn()
        }.start()
    }

    /// Ends the thread, which would go on for ever.
    func stop() {
        condition.withLock {
            isOver = true
            condition.signal()
        }
    }

    private func sample() {
        let date = clock.now
        if count % Self.listPeriod == 0 { threads = tree.threads }
        count += 1
        let waits = tree.waits(of: threads)
        let onDisk = tree.threadsOnDisk(of: threads)
        if let stretch = rule.stretch(until: date, waits: waits, onDisk: onDisk) {
            timeline.noteStarvation(stretch)
        }
    }

    /// Waits for the next sample.
    private func isToGoOn() -> Bool {
        condition.withLock {
            let next = Date() + Self.period
            while !isOver, condition.wait(until: next) {}
            return !isOver
        }
    }
}
