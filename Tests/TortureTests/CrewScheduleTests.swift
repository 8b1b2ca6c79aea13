import Testing

@testable import Torture

@Suite struct CrewScheduleTests {
    private func events(
        _ count: Int, seed: UInt64 = 1, mode: CrewMode = .all, only: Set<CrewEvent.Kind> = []
    ) -> [CrewEvent] {
        var schedule = CrewSchedule(seed: seed, mode: mode, only: only)
        return (0..<count).map { _ in schedule.next() }
    }

    @Test func theSeedDecidesEverything() {
        #expect(events(200) == events(200))
        #expect(events(200) != events(200, seed: 2))
    }

    @Test func everyKindHasItsTurnInAHundredKills() {
        let events = events(250)
        #expect(events.count { $0.kind == .kill } >= 100)
        #expect(Set(events.map(\.kind)) == Set(CrewEvent.Kind.allCases))
        #expect(events.count { $0.kind == .refuseLogin } == 1)
        #expect(events.allSatisfy { $0.after > 0 && (0...1).contains($0.share) && $0.place >= 0 })
    }

    @Test func aRefusedLoginEndsAProcessThatHasNoOtherMirror() {
        #expect(!events(250, mode: .single).contains { $0.kind == .refuseLogin })
    }

    @Test func aRunMayBeConfined() {
        #expect(Set(events(100, only: [.moveSlots]).map(\.kind)) == [.kill, .moveSlots])
    }
}
