import Foundation
import Testing

@testable import Import

@Suite struct RailsTimeZoneTests {
    @Test(
        arguments: [
            ("Tokyo", "Asia/Tokyo"), ("Berlin", "Europe/Berlin"), ("Kyiv", "Europe/Kiev"),
            ("Pacific Time (US & Canada)", "America/Los_Angeles"), ("Europe/Paris", "Europe/Paris"),
            ("EST", nil),
            ("Nowhere", nil), ("", nil), ("../etc", nil),
        ] as [(String, String?)])
    func namesTheZone(name: String, identifier: String?) {
        #expect(RailsTimeZone.identifier(name) == identifier)
    }

    @Test(arguments: [
        "Hawaii", "Greenland", "Astana", "Nuku'alofa", "International Date Line West", "Rangoon",
    ])
    func givesZonesThatThisSystemKnows(name: String) throws {
        #expect(TimeZone(identifier: try #require(RailsTimeZone.identifier(name))) != nil)
    }
}
