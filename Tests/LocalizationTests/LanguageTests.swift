import Expectations
import Localization
import Testing

/// Which language a terminal asks for.
@Suite struct LanguageTests {
    @Test(arguments: [
        (["LANG": "ja_JP.UTF-8"], Language.japanese), (["LANG": "C.UTF-8"], .english),
        ([:], .english),
        (["LANG": "ja_JP", "LC_ALL": "en_GB.UTF-8"], .english),
        (["LANG": "en_GB", "LC_ALL": "", "LC_MESSAGES": "ja"], .japanese),
        (["LANG": "ja@radical"], .japanese), (["LANG": "POSIX"], .english),
    ]) func theTerminalChooses(variables: [String: String], language: Language) {
        #expect(Language.ofTerminal { variables[$0] } == language)
    }
}
