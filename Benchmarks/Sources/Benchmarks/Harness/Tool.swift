import TestSupport

/// Programs that a baseline runs.
enum Tool {
    /// The path of an installed program.
    ///
    /// - Parameters:
    ///   - name: The program.
    ///   - package: The apt package that brings it.
    /// - Returns: Its path.
    /// - Throws: ``MissingTool``.
    static func locate(_ name: String, package: String) throws -> String {
        do {
            return try ServerProcess.locate(name)
        } catch {
            throw MissingTool(name: name, package: package)
        }
    }
}

/// Something that a line needs is not installed.
struct MissingTool: Error, CustomStringConvertible {
    let name: String
    /// What to install, as apt names it, or a whole instruction.
    let package: String

    var description: String { "could not find \(name): apt-get install \(package)" }
}
