import Testing

@testable import Sandbox

@Suite struct PhraseBookTests {
    private static let text = """
        # A remark.
        == cats
        {cat} sleeps. {cat} wakes.

        == {cat}
        the kitten
        """

    @Test func readsThemesAndFillsSlots() throws {
        let book = try PhraseBook(Self.text, named: "cats.txt")
        var generator = SampleGenerator(seed: 1)
        #expect(book.themes == ["cats"])
        #expect(book.count("cats") == 1)
        #expect(
            book.phrase("cats", generator: &generator) == "The kitten sleeps. The kitten wakes.")
        #expect(book.phrase("dogs", generator: &generator) == "")
    }

    @Test func takesWordsFromAnotherBookUnlessItHasItsOwn() throws {
        let other = try PhraseBook(Self.text, named: "cats.txt")
        var generator = SampleGenerator(seed: 1)
        let borrowing = try PhraseBook("== cats\nOh, {cat}!", named: "more.txt", besides: other)
        #expect(borrowing.phrase("cats", generator: &generator) == "Oh, the kitten!")
        #expect(borrowing.count("cats") == 1)
        let owning = try PhraseBook(
            "== cats\nOh, {cat}!\n== {cat}\nMugi", named: "more.txt", besides: other)
        #expect(owning.phrase("cats", generator: &generator) == "Oh, Mugi!")
    }

    @Test(arguments: [
        ("A sentence.", "line 1: no heading such as == cats stands above it"),
        ("==  \nA sentence.", "line 1: a heading needs a name, as in == cats"),
        ("== cats\n\n== dogs\nA dog.", "line 1: nothing stands below == cats"),
        ("== cats\nA cat.\n== dogs", "line 3: nothing stands below == dogs"),
        ("== cats\nA cat.\n== dogs\nA dog.\n== cats\nMore.", "line 5: == cats is there already"),
        ("== cats\nA {cat.", "line 2: a brace has no partner"),
        ("== cats\nA {{cat}.", "line 2: a brace has no partner"),
        ("== cats\nA cat}.", "line 2: a brace has no partner"),
        (
            "== cats\nA cat.\nA {cat}.",
            "line 3: nobody knows words for {cat}; list them below == {cat}"
        ),
    ])
    func saysWhatIsWrongAndWhere(text: String, cause: String) throws {
        let flaw = try #require(throws: PhraseBook.Flaw.self) {
            try PhraseBook(text, named: "cats.txt")
        }
        #expect(flaw.description == "could not read cats.txt, \(cause)")
    }
}
