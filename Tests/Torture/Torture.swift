import ArgumentParser
import Foundation

/// What puts mirror-bot under stress: part of the project, not of the product.
@main
struct Torture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Torture",
        abstract: "Puts mirror-bot under stress, on this machine only.",
        subcommands: [
            RunCommand.self, CrewCommand.self, SandboxCommand.self, SoakCommand.self,
            SoakSandboxCommand.self,
            FleetCommand.self,
        ])
}
