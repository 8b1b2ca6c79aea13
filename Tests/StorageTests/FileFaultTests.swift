import Expectations
import Foundation
import Storage
import TestSupport
import Testing

@Suite struct FileFaultTests {
    @Test(arguments: [
        (ENOSPC, "the disk is full; make room on the disk of /a/b"), (EDQUOT, "quota"),
        (EFBIG, "ulimit -f"),
        (EROFS, "mount it for writing"), (EACCES, "give it the folder with chown or chmod"),
        (EPERM, "permission denied"),
        (ENOENT, "the folder /a/b does not exist; make it with mkdir -p /a/b"),
        (ENOTDIR, "is a file and no folder"),
        (EISDIR, "it is a folder; name a file in it"), (ENAMETOOLONG, "choose a shorter one"),
        (ELOOP, "circle"),
        (EMFILE, "ulimit -n"), (EIO, "check the disk"),
    ])
    func eachSaysWhatHappenedAndWhatToDo(_ code: Int32, _ words: String) {
        expect("\(FileFault(code, at: "/a/b/c"))") { $0.contains(words) }
    }

    @Test func foldersAreMadeForTheirOwnerAlone() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("a/b/c")
        try FileFault.makeFolder(path)
        try FileFault.makeFolder(path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        _ = try directory.write(Data(), to: "file")
        let fault = try #require(throws: FileFault.self) {
            try FileFault.makeFolder(directory.path("file/x/y"))
        }
        #expect(fault.code == ENOTDIR)
    }

    @Test func aFullDeviceIsAFault() throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let fault = try #require(throws: FileFault.self) {
            try FileFault.write([1, 2, 3], to: full, at: "/dev/full")
        }
        #expect(fault.isLackOfRoom)
    }
}
