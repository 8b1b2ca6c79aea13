import Expectations
import Foundation
import Testing

@testable import Blocking

@Suite struct ThreadExecutorTests {
    @Test func runsWorkInTheOrderItArrives() async throws {
        let executor = ThreadExecutor(name: "test")
        let journal = Journal()
        let gate = Gate()
        async let first: Void = executor.run { gate.wait() }
        await gate.waitUntilSomeoneWaits()
        // A task with a preference is in the executor's queue as soon as it exists.
        let tasks = (0..<20).map { number in
            Task(executorPreference: executor) { journal.append(number) }
        }
        gate.open()
        try await first
        for task in tasks { await task.value }
        #expect(journal.entries == Array(0..<20))
        executor.shutdown()
    }

    @Test func runsEverythingOnOneThread() async throws {
        let executor = ThreadExecutor(name: "test")
        let owner = ExecutorActor(executor)
        var threads: Set<UInt> = []
        for _ in 0..<10 {
            threads.insert(try await executor.run { threadIdentity() })
            threads.insert(await owner.thread())
            threads.insert(await Task(executorPreference: executor) { threadIdentity() }.value)
        }
        #expect(threads.count == 1)
        #expect(threads.first != threadIdentity())
    }

    /// A new thread may run before the call that started it returns.
    @Test func theFirstJobFindsTheNameOfTheThread() async throws {
        let names = await withTaskGroup { group in
            for number in 0..<400 {
                group.addTask {
                    let executor = ThreadExecutor(name: "thread-\(number)")
                    return try? await executor.run { Thread.current.name } == "thread-\(number)"
                }
            }
            return await group.reduce(into: [Bool?]()) { $0.append($1) }
        }
        #expect(names.count == 400)
        expect(names) { $0.allSatisfy { $0 == true } }
    }

    @Test func knowsItsOwnThread() async throws {
        let executor = ThreadExecutor(name: "test")
        #expect(executor.isIsolatingCurrentContext() == false)
        try await expect(executor.run { executor.isIsolatingCurrentContext() }, equals: true)
    }

    @Test func passesErrorsOn() async {
        let executor = ThreadExecutor(name: "test")
        await #expect(throws: Mistake.self) { try await executor.run { throw Mistake() } }
    }

    @Test func interruptsRunningWorkAndWaitsForIt() async throws {
        let executor = ThreadExecutor(name: "test")
        let gate = Gate()
        let task = Task {
            try await executor.run(
                onCancel: { gate.open() },
                {
                    gate.wait(); return 42
                })
        }
        await gate.waitUntilSomeoneWaits()
        task.cancel()
        try await expect(task.value, equals: 42)
    }

    /// What an earlier unit left behind is forgotten, never the cancellation of the unit that
    /// begins.
    @Test func aCancellationAsTheWorkBeginsIsNotForgotten() async throws {
        let interruption = Interruption()
        interruption.request()
        let journal = Journal()
        let units = Units()
        let unit = WorkUnit(
            prepare: {
                interruption.reset()
                units.last?.cancel()
            },
            onCancel: { interruption.request() },
            { journal.append(interruption.isRequested ? 1 : 0) })
        units.last = unit
        await #expect(throws: CancellationError.self) {
            try await withCheckedThrowingContinuation { continuation in
                if unit.wait(with: continuation) { unit.execute() }
            }
        }
        #expect(journal.entries == [])
    }

    // MARK: A beginning on the caller's thread

    @Test func whatIsOverInAMomentNeedsNoThread() async throws {
        let executor = ThreadExecutor(name: "test")
        let value = try await executor.run(interrupting: Interruption(), beginning: { 1 }, { 2 })
        #expect(value == 1)
        await #expect(throws: Mistake.self) {
            try await executor.run(
                interrupting: Interruption(), beginning: { throw Mistake() }, { 2 })
        }
        // The turn was given back.
        try await expect(
            executor.run(interrupting: Interruption(), beginning: { 3 }, { 4 }), equals: 3)
        try await expect(executor.run { 5 }, equals: 5)
    }

    @Test func nothingElseRunsMeanwhileAndTheRestIsNext() async throws {
        let executor = ThreadExecutor(name: "test")
        let journal = Journal()
        let tasks = Journal()
        var later: [Task<Void, Never>] = []
        try await executor.run(
            interrupting: Interruption(),
            beginning: {
                later = (1...3).map { number in
                    Task(executorPreference: executor) { journal.append(number) }
                }
                tasks.append(journal.entries.count)
                return nil
            }, { journal.append(0) })
        for task in later { await task.value }
        #expect(tasks.entries == [0])
        #expect(journal.entries == [0, 1, 2, 3])
    }

    @Test func aBusyExecutorDoesNotLendItsTurn() async throws {
        let executor = ThreadExecutor(name: "test")
        let gate = Gate()
        async let first: Void = executor.run { gate.wait() }
        await gate.waitUntilSomeoneWaits()
        let opened = Journal()
        // However late it comes.
        async let second = executor.run(
            interrupting: Interruption(), beginning: { opened.entries.isEmpty ? 1 : nil }, { 2 })
        opened.append(1)
        gate.open()
        try await first
        try await expect(second, equals: 2)
    }

    @Test func aRestThatIsCancelledNeverRunsAndHoldsNobodyUp() async throws {
        let executor = ThreadExecutor(name: "test")
        let task = Task {
            try await executor.run(
                interrupting: Interruption(),
                beginning: {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return nil
                }, { Issue.record("cancelled work ran") })
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await expect(executor.run { 1 }, equals: 1)
    }

    @Test func anExecutorThatIsShutDownMeanwhileRunsTheRest() async throws {
        let executor = ThreadExecutor(name: "test")
        let value = try await executor.run(
            interrupting: Interruption(),
            beginning: {
                executor.shutdown()
                return nil
            }, { 2 })
        #expect(value == 2)
        await #expect(throws: CancellationError.self) {
            try await executor.run(interrupting: Interruption(), beginning: { 1 }, { 2 })
        }
    }

    @Test func neverRunsWorkThatWasCancelledInTheQueue() async throws {
        let executor = ThreadExecutor(name: "test")
        let gate = Gate()
        let journal = Journal()
        async let first: Void = executor.run { gate.wait() }
        await gate.waitUntilSomeoneWaits()
        let queued = Task {
            try await executor.run(onCancel: { journal.append(1) }, { journal.append(2) })
        }
        queued.cancel()
        // The executor is still busy: the call ends without it.
        await #expect(throws: CancellationError.self) { try await queued.value }
        gate.open()
        try await first
        try await executor.run { journal.append(3) }
        #expect(journal.entries == [3])
    }

    @Test func throwsAtOnceWhenTheTaskIsAlreadyCancelled() async {
        let executor = ThreadExecutor(name: "test")
        let journal = Journal()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await executor.run { journal.append(1) }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(journal.entries.isEmpty)
    }

    @Test func neverInterruptsALaterUnitOfWork() async throws {
        let executor = ThreadExecutor(name: "test")
        let later = Journal()
        let wrong = Journal()
        for number in 0..<300 {
            let task = Task {
                try await executor.run(
                    onCancel: { if later.entries.last == number { wrong.append(number) } },
                    { Task(executorPreference: executor) { later.append(number) } })
            }
            async let cancelled: Void = task.cancel()
            _ = await task.result
            await cancelled
        }
        #expect(wrong.entries.isEmpty)
    }

    @Test func finishesQueuedWorkAfterShutdownAndRefusesNew() async throws {
        let executor = ThreadExecutor(name: "test")
        let gate = Gate()
        async let first: Void = executor.run { gate.wait() }
        await gate.waitUntilSomeoneWaits()
        let queued = (0..<3).map { number in Task(executorPreference: executor) { number } }
        executor.shutdown()
        executor.shutdown()
        await #expect(throws: CancellationError.self) { try await executor.run {} }
        gate.open()
        try await first
        for (number, task) in queued.enumerated() { await expect(task.value, equals: number) }
    }

    @Test func losesNoActorJobAfterShutdown() async {
        let executor = ThreadExecutor(name: "test")
        let owner = ExecutorActor(executor)
        _ = await owner.thread()
        executor.shutdown()
        for _ in 0..<50 { #expect(await owner.thread() != threadIdentity()) }
    }

    @Test func survivesAWriteToAClosedPipe() async throws {
        let executor = ThreadExecutor(name: "test")
        let error = try await executor.run {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return Int32(0) }
            close(ends[0])
            defer { close(ends[1]) }
            return write(ends[1], "x", 1) == -1 ? errno : 0
        }
        #expect(error == EPIPE)
    }
}

private struct Mistake: Error {}

private func threadIdentity() -> UInt { UInt(pthread_self()) }

private actor ExecutorActor {
    private let executor: ThreadExecutor

    init(_ executor: ThreadExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func thread() -> UInt {
        executor.checkIsolated()
        return threadIdentity()
    }
}

/// A door that work waits at until it is opened.
private final class Gate: @unchecked Sendable {
    // Unchecked because both flags are only touched while `condition` is locked.
    private let condition = NSCondition()
    private var isOpen = false
    private var isAwaited = false

    func wait() {
        condition.withLock {
            isAwaited = true
            condition.broadcast()
            while !isOpen { condition.wait() }
        }
    }

    func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    func waitUntilSomeoneWaits() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.condition.withLock {
                    while !self.isAwaited { self.condition.wait() }
                }
                continuation.resume()
            }
        }
    }
}

/// Where a closure finds the unit that it belongs to.
private final class Units: @unchecked Sendable {
    // Unchecked because one thread at a time uses it.
    var last: WorkUnit<Void>?
}

/// Numbers in the order they were noted.
private final class Journal: @unchecked Sendable {
    // Unchecked because the list is only touched while `lock` is held.
    private let lock = NSLock()
    private var list: [Int] = []

    var entries: [Int] { lock.withLock { list } }

    func append(_ number: Int) { lock.withLock { list.append(number) } }
}
