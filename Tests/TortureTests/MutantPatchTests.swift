import Expectations
import Foundation
import TestSupport
import Testing

/// The patches of `make torture-mutants`, which takes too long to be run each time.
@Suite struct MutantPatchTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let folder = root.appendingPathComponent("Tests/Torture/Mutants")

    private static var patches: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasSuffix(".patch")
            }.sorted()
        }
    }

    @Test func everyPatchFitsTheTree() async throws {
        let patches = try Self.patches
        #expect(patches.count >= 11)
        for patch in patches {
            // A repository around the tree would make git skip the files in silence.
            try await ChildProcess.run([
                "env", "GIT_CEILING_DIRECTORIES=\(Self.root.deletingLastPathComponent().path)",
                "git", "-C",
                Self.root.path, "apply", "--check", "--whitespace=nowarn",
                Self.folder.appendingPathComponent(patch).path,
            ])
        }
    }

    /// What the script reads: how the harness is run, and which figure must not be 0.
    @Test func everyPatchSaysWhatFindsIt() throws {
        for patch in try Self.patches {
            let text = try String(
                contentsOf: Self.folder.appendingPathComponent(patch), encoding: .utf8)
            let head = text.components(separatedBy: "\n--- ")[0].components(separatedBy: "\n")
            expect(head, "\(patch)") {
                $0.contains { $0.hasPrefix("Run: --network ") || $0.hasPrefix("Run: crew ") }
            }
            let finds = try #require(
                head.first { $0.hasPrefix("Finds: ") }.map { String($0.dropFirst(7)) }, "\(patch)")
            let figures = [
                "duplicates", "lost", "unheard", "unexplained", "overwritten", "complaints",
            ]
            #expect(figures.contains(finds), "\(patch)")
        }
    }
}
