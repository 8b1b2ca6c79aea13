import Control
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox
import TestSupport
import Testing

/// What is gone for an hour: twelve seconds each, and so all at once.
extension SecretScenario {
    private static let hour: TimeInterval = 3_600

    static let hours = [
        SecretScenario("servers and Redis that are down for an hour") { stage in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for network in NetworkName.allCases {
                    group.addTask { try await errorsForAnHour(stage, on: network) }
                    group.addTask { try await nobodyForAnHour(stage, on: network) }
                }
                group.addTask { try await noCountsForAnHour(stage) }
                try await group.waitForAll()
            }
        }
    ]

    /// Nothing but errors, each with the credentials of its request in it.
    private static func errorsForAnHour(_ stage: SecretStage, on network: NetworkName) async throws
    {
        let life = try await SecretLife(on: network, in: stage, named: "errors")
        let watch = try await life.begin()
        life.troubles.plan(.unavailable, count: .max)
        try await failForAnHour(life, watch, with: "503")
        #expect(life.troubles.names.count > 20)
        life.troubles.clear()
        try await goOn(life, watch)
    }

    /// Nobody at the server's port.
    private static func nobodyForAnHour(_ stage: SecretStage, on network: NetworkName) async throws
    {
        // The sessions of Bluesky are only known where they pass the tap, which never closes its
        // port.
        let isDirect = network != .bluesky
        let life = try await SecretLife(on: network, in: stage, named: "nobody", isDirect: isDirect)
        let watch = try await life.begin()
        if isDirect {
            await life.sandbox.close()
        } else {
            life.troubles.plan(.resetBeforeActing, count: .max)
        }
        try await failForAnHour(life, watch, with: isDirect ? "onnect to" : "could not read")
        if isDirect { try await life.sandbox.reopen() } else { life.troubles.clear() }
        try await goOn(life, watch)
    }

    /// Favorites pause, and the rest goes on.
    private static func noCountsForAnHour(_ stage: SecretStage) async throws {
        let servers = try await PlantedServers(stage.book)
        try await stage.run(["migrate"], servers.settings, ends: 0)
        let life = try await SecretLife(
            on: .mastodon, in: stage, named: "counts", stores: servers.settings)
        let watch = try await life.begin()
        await servers.redis.stop()
        try await failForAnHour(life, watch, with: "REDIS_URL") {
            try await life.hasDelivered(watch)
        }
        try await servers.redis.restart()
        try await servers.waitForCounts(watch)
        try await goOn(life, watch)
        try await servers.keepContents(in: stage)
    }

    /// Waits until passes have failed for an hour of the worker's clock, with a reason.
    private static func failForAnHour(
        _ life: SecretLife, _ watch: SecretWatch, with reason: String,
        _ meanwhile: () async throws -> Void = {}
    ) async throws {
        watch.forget()
        let beginning = life.clock.now
        try await watch.line("Pass failed, trying again", reason)
        try await meanwhile()
        try await watch.line("a try after an hour of failures") { line in
            guard let next = retry(in: line), line.contains(reason) else { return false }
            return next > beginning + hour && life.clock.now > beginning + hour
        }
    }

    private static func goOn(_ life: SecretLife, _ watch: SecretWatch) async throws {
        try await life.hasDelivered(watch)
        await life.end(watch)
        try await life.close()
    }
}
