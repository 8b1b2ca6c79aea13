import Testing

@testable import Sandbox

@Suite struct StatusHTMLTests {
    private let population = SandboxFixture.standard.population

    private static let link =
        "<a href=\"https://e.org/long/path\" target=\"_blank\" rel=\"nofollow noopener noreferrer\" translate=\"no\">"
        + "<span class=\"invisible\">https://</span><span class=\"\">e.org/long/path</span>"
        + "<span class=\"invisible\"></span></a>"
    private static let aoi =
        "<span class=\"h-card\" translate=\"no\"><a href=\"https://sandbox.example/@aoi\" class=\"u-url mention\">"
        + "@<span>aoi</span></a></span>"

    @Test(
        arguments: [
            ("", ""),
            ("a", "<p>a</p>"),
            ("a\n\nb\nc", "<p>a</p><p>b<br />c</p>"),
            ("a\n\n\n\nb", "<p>a</p><p>b</p>"),
            ("1 < 2 &amp; \"x\" 'y' >", "<p>1 &lt; 2 &amp;amp; &quot;x&quot; &#39;y&#39; &gt;</p>"),
            ("see https://e.org/long/path.", "<p>see \(link).</p>"),
            ("hi @aoi!", "<p>hi \(aoi)!</p>"),
            ("@aoi@sandbox.example", "<p>\(aoi)</p>"),
            (
                "@nobody and @nobody@elsewhere.example",
                "<p>@nobody and @nobody@elsewhere.example</p>"
            ),
            ("mail me@aoi or a@b", "<p>mail me@aoi or a@b</p>"),
            (
                "#Trains",
                "<p><a href=\"https://sandbox.example/tags/trains\" class=\"mention hashtag\" rel=\"tag\">"
                    + "#<span>Trains</span></a></p>"
            ),
            ("#1 is no tag, nor is a#b", "<p>#1 is no tag, nor is a#b</p>"),
            ("こんにちは@aoi", "<p>こんにちは@aoi</p>"),
            ("https://", "<p>https://</p>"),
        ] as [(String, String)])
    func rendersAsMastodonDoes(text: String, html: String) {
        #expect(StatusHTML(text, population: population).html == html)
    }

    @Test func cutsLongLinksForTheEyeOnly() {
        let address = "https://elsewhere.example/" + String(repeating: "x", count: 40) + "?a=1&b=2"
        let html = StatusHTML(address, population: population).html
        #expect(
            html.contains(
                "href=\"https://elsewhere.example/\(String(repeating: "x", count: 40))?a=1&amp;b=2\""
            ))
        #expect(html.contains("<span class=\"ellipsis\">elsewhere.example/xxxxxxxxxxxx</span>"))
        #expect(html.contains("<span class=\"invisible\">xxxx"))
    }

    @Test func listsEachMentionAndTagOnce() {
        let status = StatusHTML(
            "@aoi @AOI @ferry@elsewhere.example #Cats #cats #猫", population: population)
        #expect(status.mentions.map { population.people[$0].userName } == ["aoi", "ferry"])
        #expect(status.tags == ["cats", "猫"])
    }

    @Test(
        arguments: [
            ("", 0), ("abc", 3), ("👨‍👩‍👧", 1), ("https://e.org/a", 23), ("see https://e.org/a ok", 30),
            ("@a@b.example", 2),
            ("#tag", 4),
        ] as [(String, Int)])
    func countsLength(text: String, length: Int) {
        #expect(StatusText.length(of: text, perLink: 23) == length)
    }
}
