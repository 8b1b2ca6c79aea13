import Embedded
import Expectations
import Foundation
import Testing

@Suite struct EmbeddedFilesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A file that the table forgets, and one that it names twice or in another order.
    @Test(arguments: [
        ("Conduct", "Sources/Conduct/Resources"), ("Posts", "Sources/Posts/Resources"),
        ("Sandbox", "Sources/Sandbox/Resources"), ("Web", "Sources/Web/Resources"),
        ("migrations", "migrations"),
    ])
    func theTableIsTheFolder(_ folder: String, _ path: String) throws {
        let url = Self.root.appending(path: path)
        let names = try FileManager.default.subpathsOfDirectory(atPath: url.path).filter { name in
            try url.appending(path: name).resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
                == true
        }
        let embedded = EmbeddedFiles.files(in: folder)
        #expect(embedded.map(\.name).sorted() == names.sorted())
        for file in embedded {
            #expect(
                try Data(file.bytes) == Data(contentsOf: url.appending(path: file.name)),
                "\(file.name)")
        }
    }

    /// Migrations are applied in this order.
    @Test func aFoldersFilesAreInTheOrderOfTheirNames() {
        let names = EmbeddedFiles.files(in: "migrations").map(\.name)
        #expect(names == names.sorted())
        #expect(!names.isEmpty)
    }

    @Test func aFileIsFoundByItsPath() throws {
        let file = Self.root.appending(path: "Sources/Posts/Resources/html.tsv")
        #expect(
            try EmbeddedFiles.text(of: "Posts/html.tsv")
                == String(contentsOf: file, encoding: .utf8))
    }
}
