import Testing

@testable import Mastodon
@testable import Networks

@Suite struct LinkHeaderTests {
    @Test(
        arguments: [
            (
                // Mastodon.
                [
                    #"<https://h.example/api/v1/timelines/home?limit=40&max_id=100>; rel="next", "#
                        + #"<https://h.example/api/v1/timelines/home?limit=40&min_id=140>; rel="prev""#
                ], "100", "140"
            ),
            // The order does not matter, nor do spaces, quotes and case.
            ([#"<?min_id=9>;REL=prev,<?max_id=1>;rel=NEXT"#], "1", "9"),
            // Two headers.
            ([#"<?max_id=1>; rel="next""#, #"<?min_id=9>; rel="prev""#], "1", "9"),
            // Several relations and other parameters; a comma inside the address.
            ([#"<https://h.example/a,b?max_id=1>; title="x"; rel="last next""#], "1", nil),
            // Only one side.
            ([#"<?min_id=9>; rel="prev""#], nil, "9"),
            ([#"<?since_id=8>; rel="prev""#], nil, "8"),
            ([#"<?since_id=8&min_id=9>; rel="previous""#], nil, "9"),
            // Another host is not followed, but its cursor is as good as any.
            ([#"<https://evil.example/steal?max_id=1>; rel="next""#], "1", nil),
            ([#"<https://h.example/?max_id=a%2Fb%3D>; rel="next""#], "a/b=", nil),
            // The first of two counts.
            ([#"<?max_id=1&max_id=2>; rel="next", <?max_id=3>; rel="next""#], "1", nil),
            // A relation without a cursor of ours is a known one still.
            ([#"<?page=2>; rel="next""#], nil, nil),
            ([#"<?max_id=>; rel="next""#], nil, nil),
            ([#"<?max_id=%00>; rel="next""#], nil, nil),
            ([#"<?max_id=..>; rel="next""#], nil, nil),
            ([#"<?max_id=1%20or%201>; rel="next""#], nil, nil),
            ([#"<?max_id=%ZZ>; rel="next""#], nil, nil),
        ] as [([String], String?, String?)])
    func readsCursors(values: [String], older: String?, newer: String?) throws {
        let link = try #require(LinkHeader(values))
        #expect(link.older == older)
        #expect(link.newer == newer)
    }

    @Test(arguments: [
        [], [""], ["<"], ["<>"], [">"], ["<https://h.example/?max_id=1>"], ["rel=\"next\""],
        ["<?max_id=1>; rel=\"first\""],
        ["<?max_id=1>; rel"], ["<?max_id=1>; rel="],
        [String(repeating: "<?max_id=1>; rel=\"next\",", count: 1_000)],
        [String(repeating: "<", count: 10_000)],
    ])
    func isNilWhereNothingIsKnown(values: [String]) {
        #expect(LinkHeader(values) == nil)
    }
}
