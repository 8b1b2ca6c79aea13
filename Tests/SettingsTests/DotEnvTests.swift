import Expectations
import Foundation
import Testing

@testable import Settings

/// What editors and shells write into `.env`.
@Suite struct DotEnvTests {
    private static func read(_ bytes: [UInt8]) -> DotEnv { DotEnv(Data(bytes), name: ".env") }

    private static func read(_ text: String) -> DotEnv { read(Array(text.utf8)) }

    @Test(arguments: [
        ("TIME_ZONE=Asia/Tokyo", "Asia/Tokyo"), ("TIME_ZONE=Asia/Tokyo\n", "Asia/Tokyo"),
        ("\n\n# zone\r\nTIME_ZONE=Asia/Tokyo\r\n\r\n", "Asia/Tokyo"),
        ("MIRROR=a\rTIME_ZONE=Asia/Tokyo\r", "Asia/Tokyo"),
        ("\u{FEFF}TIME_ZONE=Asia/Tokyo\n", "Asia/Tokyo"),
        ("export TIME_ZONE=Asia/Tokyo", "Asia/Tokyo"),
        ("\texport\tTIME_ZONE =\t'Asia/Tokyo' \t", "Asia/Tokyo"),
        ("  TIME_ZONE = \"Asia/Tokyo\"  # hers", "Asia/Tokyo"),
        ("TIME_ZONE=Asia/Tokyo # hers", "Asia/Tokyo"), ("TIME_ZONE=Asia/Tokyo #hers", "Asia/Tokyo"),
        ("TIME_ZONE=Asia/Tokyo\t#", "Asia/Tokyo"),
        ("TIME_ZONE=a\nTIME_ZONE=Asia/Tokyo", "Asia/Tokyo"),
        ("TIME_ZONE=", ""), ("TIME_ZONE= # none", ""), ("TIME_ZONE=''", ""), ("TIME_ZONE=#1", "#1"),
        ("TIME_ZONE=a#b", "a#b"),
        ("TIME_ZONE=\"a # b\"", "a # b"), ("TIME_ZONE='a\\b $c \"d\"'", "a\\b $c \"d\""),
        ("TIME_ZONE=\"say \\\"hi\\\" \\\\ \\$5\"", "say \"hi\" \\ $5"),
        ("TIME_ZONE=a=b==", "a=b=="),
        ("TIME_ZONE=a b", "a b"), ("TIME_ZONE=日本", "日本"), ("TIME_ZONE=a b # c", "a b"),
    ])
    func aValueIsReadWhole(_ text: String, _ value: String) {
        let file = Self.read(text)
        #expect(file.problems.isEmpty)
        #expect(file.variables["TIME_ZONE"] == value)
    }

    /// The planted secret stands in each line, and in no message.
    @Test(arguments: [
        ("BOT_ACCESS_TOKEN planted", "line 1 of .env has no =; write NAME=value"),
        ("\n\nplanted", "line 3 of .env has no =; write NAME=value"),
        (
            "set BOT_ACCESS_TOKEN=planted",
            "line 1 of .env does not begin with the name of a setting; write NAME=value"
        ),
        ("$env:BOT_ACCESS_TOKEN=planted", "line 1 of .env does not begin with the name"),
        ("=planted", "line 1 of .env does not begin with the name"),
        ("BOT_ACCESS_TOKEN: planted", "line 1 of .env has no ="),
        ("BOT_ACCESS_TOKEN=\"planted", "line 1 of .env has no closing \""),
        ("BOT_ACCESS_TOKEN='planted\nx'", "line 1 of .env has no closing '"),
        (
            "BOT_ACCESS_TOKEN='planted'x",
            "line 1 of .env goes on behind the closing '; put \" around"
        ),
        (
            "BOT_ACCESS_TOKEN=\"planted\"x\"",
            "line 1 of .env goes on behind the closing \"; write \\\" for"
        ),
        ("BOT_ACCESS_TOKEN=“planted”", "line 1 of .env has a typographic quote"),
        ("BOT_ACCESS_TOKEN=planted #1", "line 1 of .env has a # that may begin a comment"),
        ("BOT_ACCESS_TOKEN=planted word # 1", "line 1 of .env has a # that may begin a comment"),
        ("BOT_ACCESS_TOKEN= #planted", "line 1 of .env has a # that may begin a comment"),
        ("BOT_ACCESS_TOKEN=planted MIRROR=a", "line 1 of .env holds more than one setting"),
        ("BOT_ACCESS_TOKEN=planted; export MIRROR=a", "line 1 of .env holds more than one setting"),
        ("BOT_ACCESS_TOKEN=planted;", "line 1 of .env ends with ;"),
        ("BOT_ACCESS_TOKEN=planted\\", "line 1 of .env ends with \\"),
        ("SECRET_KEY_FILE=$HOME/planted", "line 1 of .env has a $ in a path"),
        ("MIRROR_BOT_HOME=\"${HOME}/planted\"", "line 1 of .env has a $ in a path"),
    ])
    func whatIsNotUnderstoodIsRefusedByItsLine(_ text: String, _ problem: String) {
        let file = Self.read(text)
        expect(file.problems.map(\.description)) { $0.contains { $0.hasPrefix(problem) } }
        expect((file.problems.map(\.description) + file.warnings).joined()) {
            !$0.contains("planted")
        }
    }

    @Test func otherEncodingsAreRefusedByName() {
        let text = "BOT_ACCESS_TOKEN=planted\n"
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] {
            let file = Self.read([UInt8](text.data(using: encoding) ?? Data()))
            #expect(
                file.problems.map(\.description) == [".env is written as UTF-16; save it as UTF-8"])
            #expect(file.variables.isEmpty)
        }
        let latin = Self.read(
            Array("MIRROR=a\nOPERATOR_CONTACT=J".utf8) + [0xF6] + Array("rg\n".utf8))
        #expect(
            latin.problems.map(\.description) == [
                "line 2 of .env is not UTF-8; save the file as UTF-8"
            ])
        #expect(latin.variables == ["MIRROR": "a"])
    }

    @Test func aNameThatIsGivenTwiceIsToldOf() {
        #expect(
            Self.read("LINKS=on\n\nLINKS=off\nLINKS=off\n").warnings
                == ["line 3 of .env sets LINKS again; line 1 has no effect"])
        #expect(
            Self.read("cGxhbnRlZA=1\ncGxhbnRlZA=2").warnings.allSatisfy { !$0.contains("cGxh") })
    }
}
