import Foundation
import Storage
import UnixSignals

/// A private folder that is removed with the demo.
struct TemporaryFolder {
    let path: String

    init() throws {
        var template = Array((NSTemporaryDirectory() + "/mirror-bot-demo.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            let fault = FileFault(errno, at: NSTemporaryDirectory() + "mirror-bot-demo")
            let parent = NSTemporaryDirectory()
            throw CommandError(
                .unavailable,
                "could not make a folder in \(parent): \(fault); TMPDIR names another place")
        }
        path = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    /// Waits for a signal that ends the program, removes the folder, and then ends the program.
    ///
    /// The folder may contain the person's own posts, so it must not stay.
    func removeOnSignal() async {
        guard Console.current.ownsProcess else { return }
        for await signal in await UnixSignalsSequence(trapping: EndingSignals.trapped) {
            remove()
            Foundation.signal(signal.rawValue, SIG_DFL)
            kill(getpid(), signal.rawValue)
        }
    }

    // A folder that cannot be removed is left to the system.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
