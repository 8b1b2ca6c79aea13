import Posts
import Testing

@Suite struct SlotTests {
    @Test(arguments: ["2026-11-20#1", "0001-01-01#3", "9999-12-31#1440", "2026-11-20#3/2"])
    func aNameIsReadAsItIsSpelled(_ text: String) throws {
        let name = try #require(Slot.Name(text))
        #expect(name.description == text)
        #expect(Slot.Name(day: name.day, number: name.number, part: name.part) == name)
        #expect(name.next.part == name.part + 1)
        #expect(Slot.Name(name.next.description) == name.next)
    }

    @Test(arguments: [
        "", "#", "2026-11-20", "2026-11-20#", "2026-11-20#0", "2026-11-20#-1", "2026-11-20#+1",
        "2026-11-20#03",
        "2026-11-20#3#4", "2026-11-20##3", " 2026-11-20#3", "2026-11-20#3 ", "2026-02-30#3",
        "2026-11-20#३",
        "#2026-11-20#3", "2026-11-20#99999999999999999999", "2026-11-20#3/1", "2026-11-20#3/0",
        "2026-11-20#3/",
        "2026-11-20#3/2/3", "2026-11-20#/2", "2026-11-20#3/-2",
    ])
    func whatIsSpelledOtherwiseIsNoName(_ text: String) { #expect(Slot.Name(text) == nil) }
}
