import Foundation
import TestSupport
import Testing

@testable import Posts

@Suite struct ZoneRulesTests {
    /// A compiled zone file with transitions by their seconds, as `zic` writes it: an empty first
    /// part, and 8-byte times.
    private static func file(
        _ transitions: [(at: Int, type: Int)], types: [Int], footer: String,
        version: Character = "2"
    ) -> [UInt8] {
        func number(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func header(_ counts: [Int]) -> [UInt8] {
            Array("TZif".utf8) + [version.asciiValue ?? 0] + Array(repeating: 0, count: 15)
                + counts.flatMap { number($0, 4) }
        }
        var bytes = header([0, 0, 0, 0, 1, 1]) + number(0, 4) + [0, 0, 0]
        bytes += header([0, 0, 0, transitions.count, types.count, 4])
        bytes += transitions.flatMap { number($0.at, 8) }
        bytes += transitions.map { UInt8($0.type) }
        bytes += types.flatMap { number($0, 4) + [0, 0] }
        return bytes + Array("ABC\0".utf8) + Array("\n\(footer)\n".utf8)
    }

    private static func date(_ text: String) throws -> Date { try #require(Date(rfc3339: text)) }

    private func folder(_ files: [String: [UInt8]], table: String? = "# version 2099z\n") throws
        -> TemporaryDirectory
    {
        let folder = try TemporaryDirectory()
        for (name, bytes) in files {
            let path = folder.path(name)
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true)
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }
        if let table {
            try Data(table.utf8).write(to: URL(fileURLWithPath: folder.path("tzdata.zi")))
        }
        return folder
    }

    /// A country that gave summer time up in 2026, which no toolchain knew.
    @Test func theSystemsFilesCount() throws {
        let change = Int(try Self.date("2026-03-08T10:00:00Z").timeIntervalSince1970)
        let made = Self.file([(change, 1)], types: [-28_800, -25_200], footer: "MST7")
        let folder = try folder(["America/Vancouver": made])
        let rules = ZoneRules(folder: folder.path, builtIn: "2025b")
        let zone = try #require(TimeZone(identifier: "America/Vancouver"))
        #expect(rules.version == "2099z")
        #expect(rules.versionNumber == 209_926)
        #expect(ZoneRules(folder: nil).versionNumber > 200_000)
        #expect(rules.isFromSystem(zone))
        #expect(rules.offset(of: zone, at: try Self.date("2026-11-27T17:00:00Z")) == -25_200)
        #expect(rules.offset(of: zone, at: try Self.date("2026-01-27T17:00:00Z")) == -28_800)
        #expect(rules.offset(of: zone, at: try Self.date("2026-03-08T09:59:59Z")) == -28_800)
        #expect(rules.offset(of: zone, at: try Self.date("2026-03-08T10:00:00Z")) == -25_200)
    }

    @Test func theBuiltInRulesCountWhereNoFilesDo() throws {
        let zone = try #require(TimeZone(identifier: "Asia/Tokyo"))
        let noon = try Self.date("2026-11-27T12:00:00Z")
        let made = Self.file([], types: [3_600], footer: "XXX-1")
        // No folder, an older one, a zone without a file, and a broken file.
        #expect(ZoneRules(folder: nil).offset(of: zone, at: noon) == 32_400)
        let old = try folder(["Asia/Tokyo": made], table: "# version 2024a\n")
        #expect(ZoneRules(folder: old.path, builtIn: "2025b").isOutdated)
        #expect(ZoneRules(folder: old.path, builtIn: "2025b").offset(of: zone, at: noon) == 32_400)
        let other = try folder(["Asia/Seoul": made, "Asia/Tokyo": Array(made.dropLast(20))])
        #expect(ZoneRules(folder: other.path).offset(of: zone, at: noon) == 32_400)
        #expect(!ZoneRules(folder: other.path).isFromSystem(zone))
        // Files without a version are believed.
        let nameless = try folder(["Asia/Tokyo": made], table: nil)
        #expect(ZoneRules(folder: nameless.path).offset(of: zone, at: noon) == 3_600)
    }

    @Test func aSecondNameIsThatOfItsZone() throws {
        let made = Self.file([], types: [3_600], footer: "XXX-1")
        let folder = try folder(
            ["Asia/Kolkata": made], table: "# version 2099z\nL Asia/Kolkata Asia/Calcutta\n")
        let zone = try #require(TimeZone(identifier: "Asia/Calcutta"))
        #expect(ZoneRules(folder: folder.path).offset(of: zone, at: Date(milliseconds: 0)) == 3_600)
    }

    /// What the footers of all zones say, and a few that only POSIX allows.
    @Test(
        arguments: [
            ("UTC0", "2026-07-01T00:00:00Z", 0), ("<+0330>-3:30", "2026-07-01T00:00:00Z", 12_600),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 3_600),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7_200),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", 7_200),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 3_600),
            // South of the equator summer lasts over the end of the year.
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", 39_600),
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-07-01T00:00:00Z", 37_800),
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-12-31T23:00:00Z", 39_600),
            // Ireland's summer is its standard time, and Greenland changes on the evening before.
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3_600),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-12-01T00:00:00Z", 0),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7_200),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3_600),
            ("AAA3BBB,J60/0,J300/0", "2028-02-29T12:00:00Z", -10_800),
            ("AAA3BBB,J60/0,J300/0", "2028-03-01T12:00:00Z", -7_200),
            ("AAA3BBB,59/0,300/0", "2028-02-29T12:00:00Z", -7_200),
        ])
    func theRuleOfAllYearsIsKept(footer: String, time: String, offset: Int) throws {
        let file = try #require(ZoneFile(Self.file([(0, 0)], types: [7], footer: footer)))
        #expect(file.offset(at: Int(try Self.date(time).timeIntervalSince1970)) == offset)
    }

    /// Broken files are none, and a rule that cannot be read leaves the last distance.
    @Test func whatCannotBeReadIsNoFile() throws {
        let good = Self.file([(10, 0), (20, 1)], types: [3_600, 7_200], footer: "XXX-1")
        #expect(ZoneFile(good) != nil)
        for length in 0..<(good.count - 7) {
            #expect(ZoneFile(Array(good.prefix(length))) == nil, "\(length)")
        }
        #expect(ZoneFile(Self.file([(20, 0), (10, 0)], types: [0], footer: "")) == nil)
        #expect(ZoneFile(Self.file([(10, 1)], types: [0], footer: "")) == nil)
        #expect(ZoneFile(Self.file([(10, 0)], types: [90_000], footer: "")) == nil)
        for footer in [
            "", "XX", "XXX", "XXX-1YYY,M13.1.0,M1.1.0", "XXX-1YYY,M3.1", "<A-1", "XXX-1YYY",
            "XXX-99",
        ] {
            let file = try #require(
                ZoneFile(Self.file([(10, 1)], types: [0, 3_600], footer: footer)))
            #expect(file.offset(at: 5_000_000) == 3_600, "\(footer)")
        }
    }

    /// A name leads to no other place.
    @Test func aNameIsNoPath() throws {
        let made = Self.file([], types: [3_600], footer: "XXX-1")
        let folder = try folder(["UTC": made])
        let rules = ZoneRules(folder: folder.path)
        let zone = try #require(TimeZone(secondsFromGMT: 5_400))
        #expect(rules.offset(of: zone, at: Date(milliseconds: 0)) == 5_400)
    }

    /// The reader and the built-in rules agree about what has not changed for long.
    @Test(
        arguments: [
            "Europe/Berlin", "Asia/Tokyo", "America/New_York", "Australia/Lord_Howe",
            "Asia/Kathmandu",
            "Pacific/Apia", "America/St_Johns",
        ])
    func theFilesOfTheSystemAreRead(name: String) throws {
        let rules = ZoneRules(folder: ZoneRules.current.folder, builtIn: "")
        let zone = try #require(TimeZone(identifier: name))
        #expect(rules.isFromSystem(zone))
        for hour in stride(from: 0, to: 55 * 365 * 24, by: 131) {
            let date = Date(timeIntervalSince1970: Double(hour) * 3_600)
            let offset = rules.offset(of: zone, at: date)
            #expect(offset == zone.secondsFromGMT(for: date), "\(date)")
            if offset != zone.secondsFromGMT(for: date) { break }
        }
    }
}
