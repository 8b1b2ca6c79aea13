import Posts
import Testing

@Suite struct StableHashTests {
    /// The values that the authors of the function publish.
    @Test(arguments: [
        ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c),
        ("foobar", 0x8594_4171_f739_67e8),
    ])
    func hashesAsTheAuthorsDo(_ text: String, _ hash: UInt64) {
        #expect(StableHash.fnv1a(text) == hash)
    }

    @Test func digestsThePartsWithANULBetweenThem() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(StableHash.digest(of: "abc").hexadecimal == abc)
        #expect(StableHash.digest(of: "a", "b") == StableHash.digest(of: "a\0b"))
        #expect(StableHash.seed(of: ["abc"]) == 0xba78_16bf_8f01_cfea)
    }
}
