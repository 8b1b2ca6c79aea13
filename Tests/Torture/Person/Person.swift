import Control
import Foundation
import Mirroring
import Posts
import Sandbox

/// What a person did to a mirror while workers lived and died, as far as their commands told that
/// it was done.
struct PersonLedger: Equatable, Sendable {
    /// What became of one slot by a command that said so.
    enum Wish: Equatable, Sendable {
        case skipped
        /// Moved or kept: it has this time, as far as that was said, and this text.
        case pinned(due: Date?, text: String?)
    }

    /// The last wish about each slot; nil where a command ended without saying what became of it.
    var wishes: [String: Wish?] = [:]
    /// From when on a text was never to be sent.
    var never: [String: Date] = [:]
    /// What was to be taken back, by the action's id, for a command said that this is noted.
    var unwanted: Set<String> = []
    /// What a command may have noted that ended without saying so.
    var perhapsUnwanted: Set<String> = []
    /// How many commands ended so that were to take back whatever was sent last.
    var lostWords = 0
    /// Days that were drawn anew, or may have been.
    var rerolled: Set<String> = []
    /// From the end of each command that paused to the beginning of the one that resumed.
    var pauses: [DateInterval] = []
    /// The same with everything around it: a worker may be idle in all of it.
    var idle: [DateInterval] = []
    /// How many commands did what they were asked, by name.
    var done: [String: Int] = [:]
}

/// A person who interferes through the program's own commands while everything else goes wrong.
actor Person {
    private(set) var ledger = PersonLedger()
    private let stage: Stage
    private var choice: SampleGenerator
    private var number = 0

    init(on stage: Stage) {
        self.stage = stage
        choice = SampleGenerator(seed: stage.settings.seed ^ 0x70_6572_736F_6E)
    }

    /// Interferes again and again until it is cancelled, and leaves no pause behind.
    func live() async {
        while !Task.isCancelled {
            do {
                try await ContinuousClock().sleep(for: .seconds(choice.number(in: 0.5...3)))
            } catch { return }
            await interfere()
        }
    }

    private func interfere() async {
        switch choice.number(below: 14) {
        case 0...2: await change("skip")
        case 3...4: await change("move")
        case 5...6: await change("pin")
        case 7: await reroll()
        case 8: await never()
        case 9...10: await undo()
        case 11: await undoLast()
        case 12: await restore()
        default: await pause()
        }
    }

    // MARK: What is done

    private func change(_ verb: String) async {
        guard let slot = await upcomingSlot() else { return }
        var words = ["plan", verb, slot.subject, "--json"]
        if verb == "move" { words.insert(newTime(), at: 3) }
        // Now and then only if the slot is still as the plan showed it: a worker may have changed
        // it since.
        if let seen = slot.seen, choice.number(below: 2) == 0 { words += ["--seen", seen] }
        let (state, report) = await run(words, as: ChangeReport.self)
        guard state == .exited(0), let changed = report?.slots.first else {
            // A refusal has changed nothing; of anything else nobody knows.
            if state != .exited(64), state != .exited(65) {
                ledger.wishes.updateValue(nil, forKey: slot.subject)
            }
            return
        }
        let wish: PersonLedger.Wish =
            switch verb {
            case "skip": .skipped
            case "move": .pinned(due: changed.due, text: changed.text)
            default: .pinned(due: nil, text: changed.text)
            }
        if case .pinned(let due?, _)?? = ledger.wishes[slot.subject],
            case .pinned(nil, let text) = wish
        {
            ledger.wishes[slot.subject] = .some(.pinned(due: due, text: text))
        } else {
            ledger.wishes[slot.subject] = .some(wish)
        }
        ledger.done[verb, default: 0] += 1
    }

    /// Lets a slot be sent after all that was left out.
    private func restore() async {
        let skipped = ledger.wishes.filter { $0.value == .some(.skipped) }.keys.sorted()
        guard !skipped.isEmpty else { return }
        let subject = skipped[choice.number(below: skipped.count)]
        // From here on it may be sent or not, whatever the command says.
        ledger.wishes.updateValue(nil, forKey: subject)
        guard await run(["plan", "restore", subject, "--json"], as: Empty.self).state == .exited(0)
        else { return }
        ledger.done["restore", default: 0] += 1
    }

    private func reroll() async {
        let day = LocalTime(stage.clock.now, in: Stage.zone).day.description
        ledger.rerolled.insert(day)
        // It ends on the day on which it began, or begins on the next.
        ledger.rerolled.insert(LocalTime(stage.clock.now + 1_800, in: Stage.zone).day.description)
        if await run(["plan", "reroll", "--json"], as: Empty.self).state == .exited(0) {
            ledger.done["reroll", default: 0] += 1
        }
    }

    private func never() async {
        guard let slot = await upcomingSlot(), let text = slot.text else { return }
        let (state, report) = await run(["never", slot.subject, "--json"], as: ChangeReport.self)
        // Whatever was wanted of the slots that got another text is no longer known.
        ledger.wishes.updateValue(nil, forKey: slot.subject)
        for changed in report?.slots ?? [] { ledger.wishes.updateValue(nil, forKey: changed.slot) }
        guard state == .exited(0) else {
            // Of slots with the same text nobody knows, if it did something.
            for subject in ledger.wishes.keys { ledger.wishes.updateValue(nil, forKey: subject) }
            return
        }
        // It may have been another text by then; only what the program says counts.
        if report?.text == text { ledger.never[text] = stage.clock.now }
        ledger.done["never", default: 0] += 1
    }

    /// Takes back something that happened a while ago.
    private func undo() async {
        let known = await run(["status", "--json"], as: KnownActions.self).report
        let done = ((known?.recent ?? []) + (known?.slots ?? [])).filter { $0.state == "done" }
        guard !done.isEmpty else { return }
        let id = done[choice.number(below: done.count)].id
        // Mostly the command dies, so that the wish is left to the workers.
        let fault = ["kill@undo.begun#1", "kill@undo.begun#1", "kill@undo.answered#1", nil][
            choice.number(below: 4)]
        let (state, report) = await run(
            ["undo", id, "--yes", "--json"], fault: fault, as: UndoReport.self)
        if note(report) { return ledger.done["undo", default: 0] += 1 }
        // At that point the wish is stored.
        if fault != nil, state == .killed(signal: SIGKILL) {
            ledger.unwanted.insert(id)
            return ledger.done["undo, killed", default: 0] += 1
        }
        if state != .exited(64) { ledger.perhapsUnwanted.insert(id) }
    }

    /// Takes back whatever was sent last.
    private func undoLast() async {
        let (state, report) = await run(["undo", "last", "--yes", "--json"], as: UndoReport.self)
        if note(report) { return ledger.done["undo last", default: 0] += 1 }
        if state != .exited(64) { ledger.lostWords += 1 }
    }

    /// Notes what a receipt says; false if there is none.
    private func note(_ receipt: UndoReport?) -> Bool {
        guard let receipt else { return false }
        ledger.unwanted.formUnion(receipt.actions.filter { $0.result != "nothing" }.map(\.id))
        return true
    }

    private func pause() async {
        let asked = stage.clock.now
        let isPaused = await run(["pause", "--json"], as: Empty.self).state == .exited(0)
        let begun = stage.clock.now
        if isPaused { try? await ContinuousClock().sleep(for: .seconds(choice.number(in: 2...6))) }
        let ended = stage.clock.now
        // Whatever the first command said, it may have done it.
        while await run(["resume", "--json"], as: Empty.self).state != .exited(0) {
            try? await Task.detached { try await ContinuousClock().sleep(for: .milliseconds(300)) }
                .value
        }
        // Workers look every 50 seconds of their clock.
        ledger.idle.append(DateInterval(start: asked, end: stage.clock.now + 60))
        guard isPaused, ended > begun else { return }
        ledger.pauses.append(DateInterval(start: begun, end: ended))
        ledger.done["pause", default: 0] += 1
    }

    // MARK: What is seen

    private struct PlanSlots: Decodable {
        struct Slot: Decodable {
            let subject: String
            let due: Date
            let state: String
            let text: String?
            let seen: String?
        }

        let slots: [Slot]
    }

    private struct ChangeReport: Decodable {
        struct Slot: Decodable {
            let slot: String
            let due: Date
            let text: String?
        }

        let slots: [Slot]
        let text: String?
    }

    private struct KnownActions: Decodable {
        struct Known: Decodable {
            let id: String
            let state: String
        }

        let recent: [Known]
        /// Those of today.
        let slots: [Known]
    }

    private struct UndoReport: Decodable {
        struct Item: Decodable {
            let id: String
            let result: String
        }

        let actions: [Item]
    }

    private struct Empty: Decodable {}

    /// A slot of today that waits.
    private func upcomingSlot() async -> PlanSlots.Slot? {
        let plan = await run(["plan", "--json"], as: PlanSlots.self).report
        let waiting = (plan?.slots ?? []).filter {
            ["planned", "preview"].contains($0.state) && $0.due > stage.clock.now
        }
        return waiting.isEmpty ? nil : waiting[choice.number(below: waiting.count)]
    }

    /// A time of today that is still to come; midnight is left alone.
    private func newTime() -> String {
        let later = stage.clock.now + Double(20 + choice.number(below: 120)) * 60
        return LocalTime(later, in: Stage.zone).minute.description
    }

    private func run<Report: Decodable>(
        _ words: [String], fault: String? = nil, as: Report.Type
    ) async -> (state: WorkerProcess.State, report: Report?) {
        number += 1
        // Cancelling ends the waiting for nothing: what was begun is to be known.
        let stage = stage
        let number = number
        let ended = await Task.detached {
            try? await stage.command(words, fault: fault, log: "person-\(number)")
        }.value
        guard let ended else { return (.exited(70), nil) }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let json = ended.output.firstIndex(of: "{").flatMap { start in
            ended.output.lastIndex(of: "}").map { ended.output[start...$0] }
        }
        return (ended.state, json.flatMap { try? decoder.decode(Report.self, from: Data($0.utf8)) })
    }
}
