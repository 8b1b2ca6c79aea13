import Foundation
import Import
import NetworkNames
import Posts
import TestSupport
import Testing

/// Everything an archive gave, collected.
struct Reading {
    var items: [ArchiveItem] = []
    var summary: ImportSummary

    init(
        _ path: String, for purpose: ImportPurpose = .scheduler, network: NetworkName = .mastodon,
        localHost: String? = "here.example", limits: ImportLimits = ImportLimits()
    ) throws {
        var items: [ArchiveItem] = []
        summary = try ArchiveReader(
            path: path, purpose: purpose, network: network, localHost: localHost, limits: limits
        ).read { items.append($0) }
        self.items = items
    }

    var posts: [Post] {
        items.compactMap { item in
            if case .post(let post) = item { post } else { nil }
        }
    }

    var texts: [String] { posts.map(\.text) }
}

/// Archives of X written for the tests.
enum Fixture {
    static let account = """
        window.YTD.account.part0 = [
          {
            "account" : {
              "email" : "nobody@example.org",
              "createdVia" : "web",
              "username" : "HarukaTest",
              "accountId" : "4242",
              "createdAt" : "2009-03-01T10:00:00.000Z",
              "accountDisplayName" : "Haruka"
            }
          }
        ]
        """

    /// The fields of one post, in the wrapper.
    static func tweet(
        _ id: String, _ text: String, at time: String = "Sat Feb 18 12:33:11 +0000 2023",
        _ more: String = ""
    ) -> String {
        let extra = more.isEmpty ? "" : ", \(more)"
        return
            #"{"tweet": {"id_str": "\#(id)", "full_text": "\#(text)", "created_at": "\#(time)"\#(extra)}}"#
    }

    static func tweets(_ tweets: [String], part: Int = 0) -> String {
        "window.YTD.tweets.part\(part) = [\n" + tweets.joined(separator: ",\n") + "\n]\n"
    }

    static func likes(_ likes: [String]) -> String {
        "window.YTD.like.part0 = [ " + likes.joined(separator: " , ") + " ]"
    }

    /// Writes an extracted archive and returns its folder.
    static func folder(_ files: [String: String], in directory: TemporaryDirectory) throws -> String
    {
        for (name, contents) in files {
            let path = URL(fileURLWithPath: directory.path(name))
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(contents.utf8).write(to: path)
        }
        return directory.path
    }

    /// Writes an archive with `data/account.js` and the given `data/tweets.js`, and returns its
    /// folder.
    static func folder(tweets: String, in directory: TemporaryDirectory) throws -> String {
        try folder(["data/account.js": account, "data/tweets.js": tweets], in: directory)
    }

    /// Runs the `zip` tool in a folder.
    static func zip(_ arguments: [String], in directory: TemporaryDirectory) throws {
        try run("/usr/bin/zip", ["-q"] + arguments, in: directory)
    }

    /// Runs a tool in a folder.
    static func run(_ tool: String, _ arguments: [String], in directory: TemporaryDirectory) throws
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        do {
            try process.run()
        } catch {
            throw TestSupportError("could not run \(tool); `make deps` installs it")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestSupportError("\(tool) failed") }
    }
}

/// The code of the ``ImportError`` that `body` throws; anything else fails the test.
func importError(_ body: () throws -> Void) throws -> ImportError {
    try #require(throws: ImportError.self) { try body() }
}
