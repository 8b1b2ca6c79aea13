import Posts
import Testing

@Suite struct TypedSlotTests {
    private static let today = LocalDay("2026-11-20") ?? .earliest

    @Test(arguments: [
        "4", "04", "#4", "4.", "4)", "No. 4", "no 4", "No.4", "№4", "slot 4", "Slot #4", "４", "＃４",
        "＃ ４", "4番", "４番目",
        " 4 ", "'#4'", "“#4”", "「4」", "\\#4", "2026-11-20#4", "2026-11-20 4", "２０２６-11-20＃４",
        "today 4", "Today#4",
        "#4/1",
    ])
    func aNumberNamesASlot(_ text: String) {
        #expect(TypedSlot(text, today: Self.today) == .named(Slot.Name(day: Self.today, number: 4)))
    }

    @Test(arguments: [
        ("tomorrow#2", "2026-11-21#2"), ("tomorrow 2", "2026-11-21#2"),
        ("2026-12-31#10", "2026-12-31#10"),
        ("#3/2", "2026-11-20#3/2"), ("2026-11-24#2/3", "2026-11-24#2/3"),
        ("#10000", "2026-11-20#10000"),
    ])
    func otherDaysAndPartsAreNamed(_ text: String, _ name: String) throws {
        #expect(TypedSlot(text, today: Self.today) == .named(try #require(Slot.Name(name))))
    }

    @Test(arguments: [
        ("14:05", 845), ("１４：０５", 845), ("2:05pm", 845), ("2:05 PM", 845), ("2pm", 840),
        ("12:30am", 30), ("12pm", 720),
        ("9:07", 547), ("2026-11-20 14:05", 845), ("2026-11-20T14:05", 845), ("today 14:05", 845),
    ])
    func aTimeNamesTheSlotThen(_ text: String, _ minute: Int) throws {
        #expect(
            TypedSlot(text, today: Self.today) == .at(Self.today, try #require(MinuteOfDay(minute)))
        )
    }

    @Test(arguments: ["next", "NEXT", "ｎｅｘｔ", " next "]) func nextIsAWord(_ text: String) {
        #expect(TypedSlot(text, today: Self.today) == .next)
    }

    /// Identifiers, and what nobody can mean.
    @Test(arguments: [
        "", "#", "0", "#0", "-4", "+4", "4.5", "#4#5", "four", "3f2a91c", "1234567", "12345",
        "25:00", "14:5", "13pm",
        "0am",
        "pm", "2026-11-20", "2026-02-30#3", "#3/0", "#3/2/1", "#३", "#99999999999999999999",
        "tomorrow", "yesterday 4",
    ])
    func anythingElseIsNoSlot(_ text: String) { #expect(TypedSlot(text, today: Self.today) == nil) }
}
