import NetworkNames
import Testing

@testable import Mastodon
@testable import Networks

@Suite struct MastodonProgramTests {
    @Test(
        arguments: [
            // Mastodon of today and of before, and what was made from it.
            ("4.4.3", "https://github.com/mastodon/mastodon", true, .mastodon),
            ("4.4.3", nil, true, .mastodon),
            ("", nil, true, .mastodon), ("4.2.1", nil, false, .mastodon),
            ("3.5.3+glitch", nil, false, .mastodon),
            ("4.3.0-rc.1+glitch", "https://github.com/glitch-soc/mastodon", false, .mastodon),
            ("4.4.0", "https://sandbox.example/source", true, .mastodon),
            // Others.
            ("4.2.1", "https://example.org/other", false, .other), ("", nil, false, .other),
            ("2.7.2 (compatible; Pleroma 2.6.0)", nil, false, .pleroma),
            (
                "2.7.2 (compatible; Akkoma 3.13.2)", "https://akkoma.dev/AkkomaGang/akkoma", false,
                .pleroma
            ),
            ("2.8.0 (compatible; Friendica 2024.09-rc)", nil, false, .friendica),
            ("WordPress/6.1.9, EMA/1.6.1", nil, false, .wordPress),
            ("4.2.1 (compatible; Iceshrimp.NET/2025.1)", nil, true, .other),
            ("takahe/0.11.0", "https://github.com/jointakahe/takahe", false, .takahe),
            ("3.0.0 (compatible; Sharkey 2025.4.2)", nil, false, .misskey),
            ("4.2.1 (compatible; Firefish 1.0.5-rc)", nil, false, .misskey),
            ("1.0.0", nil, false, .other),
            ("0.9", nil, false, .other), ("nightly", nil, false, .other),
            ("99999999999999999999.1", nil, false, .other),
            ("4.0.0 (not true; really snac/2.74)", nil, false, .snac),
            (
                "0.19.1+git-57cb4fe", "https://codeberg.org/superseriousbusiness/gotosocial", false,
                .goToSocial(minorVersion: 19)
            ),
            (
                "0.18.0-rc1", "https://github.com/superseriousbusiness/gotosocial", false,
                .goToSocial(minorVersion: 18)
            ),
            (
                "1.2.0", "https://codeberg.org/superseriousbusiness/gotosocial", false,
                .goToSocial(minorVersion: nil)
            ),
            (
                "", "https://codeberg.org/superseriousbusiness/GoToSocial", false,
                .goToSocial(minorVersion: nil)
            ),
            ("0.20.0 gotosocial", nil, false, .goToSocial(minorVersion: 20)),
        ] as [(String, String?, Bool, MastodonProgram)])
    func isRecognised(
        version: String, source: String?, hasMastodonAPI: Bool, expected: MastodonProgram
    ) {
        #expect(
            MastodonProgram.recognized(
                version: version, source: source, hasMastodonAPI: hasMastodonAPI) == expected)
    }

    @Test(arguments: [
        (MastodonProgram.mastodon, true, true, false),
        (.goToSocial(minorVersion: 19), false, true, false),
        (.goToSocial(minorVersion: 18), false, true, true),
        (.goToSocial(minorVersion: nil), false, true, false),
        (.snac, false, false, true), (.takahe, false, false, false),
        (.misskey, false, false, false), (.friendica, false, false, false),
        (.other, false, false, false),
    ])
    func hasHabits(
        program: MastodonProgram, shortensLinks: Bool, refusesLostReplies: Bool, ignoresScopes: Bool
    ) {
        #expect(program.shortensLinks.value == shortensLinks)
        #expect(program.refusesRepliesToDeletedPosts.value == refusesLostReplies)
        #expect(program.ignoresScopes.value == ignoresScopes)
    }
}
