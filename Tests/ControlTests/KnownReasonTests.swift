import Archive
import Conduct
import Networks
import Outbox
import Posts
import Settings
import Testing

@testable import Control

@Suite struct KnownReasonTests {
    /// All reasons, each beside its stored code.
    private static let all: [(code: ReasonCode, reason: KnownReason)] =
        Refusal.Reason.allCases.map { (.rule($0), .rule($0)) }
        + Action.Reason.allCases.map { (.outbox($0), .outbox($0)) }
        + NetworkError.Code.allCases.map { (.network($0), .network($0)) }

    /// The outbox gives some codes of rules and networks without importing their modules.
    @Test func aCodeOfTwoEnumsSaysTheSameInBoth() {
        let groups = Dictionary(grouping: Self.all, by: \.code).filter { $0.value.count > 1 }
        #expect(Set(groups.keys.map(\.rawValue)) == ["denied", "duplicate", "too-long"])
        for (code, group) in groups {
            #expect(Set(group.map(\.reason.sentence)).count == 1, "\(code)")
            #expect(Set(group.map(\.reason.setting?.name)).count == 1, "\(code)")
        }
    }

    @Test func everyCodeIsReadAsAReasonWithTheSameWords() {
        for (code, reason) in Self.all {
            let reported = ReportedReason(code)
            #expect(reported.code == code)
            #expect(reported.text == reason.sentence, "\(code)")
            #expect(reported.setting == reason.setting?.name, "\(code)")
        }
    }

    @Test func everySentenceIsPlain() {
        for (code, reason) in Self.all {
            #expect(reason.sentence.count > 15, "\(code)")
            #expect(reason.sentence.last != ".", "\(code)")
        }
    }

    @Test func everySettingExists() {
        let names = Set(AnySetting.all.map(\.name))
        for (code, reason) in Self.all {
            guard let setting = reason.setting else { continue }
            #expect(names.contains(setting.name), "\(code)")
        }
    }

    @Test func theCodeOfANewerVersionIsItsOwnText() {
        let reported = ReportedReason(ReasonCode(rawValue: "of-the-future"))
        #expect(reported.text == "of-the-future")
        #expect(reported.setting == nil)
        #expect(ReportedReason("of-the-future") == reported)
    }

    /// The archive notes an excluded text with the code that its slot is skipped with.
    @Test func theArchiveAndTheOutboxAgreeOnAnExcludedText() {
        #expect(Archive.never == Action.Reason.never.rawValue)
    }

    @Test func aRuleOfFitnessHasTheSettingOfFitness() {
        #expect(Refusal.Reason.timeBound.isOfFitness)
        #expect(!Refusal.Reason.hasLink.isOfFitness)
        #expect(!Refusal.Reason.tooOld.isOfFitness)
    }
}
