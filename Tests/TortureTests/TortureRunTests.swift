import NetworkNames
import Posts
import TestSupport
import Testing

@testable import Torture

/// A short run of the crash harness for every network and every kind of stores; `make torture` runs
/// long ones.
///
/// One after the other: a worker that gets no processor sends late, which the harness tells from a
/// loss only roughly.
@Suite(.serialized) struct TortureRunTests {
    @Test(arguments: [
        (NetworkName.mastodon, TortureStore.sqlite), (.x, .sqlite), (.bluesky, .sqlite),
        (.mastodon, .postgres),
        (.mastodon, .cluster),
    ])
    func nothingIsSentTwiceAndNothingIsLost(_ network: NetworkName, _ store: TortureStore)
        async throws
    {
        var settings = TortureSettings(network: network, store: store, kills: 12, seed: 1)
        settings.program = try WorkerProgram.path()
        let report = try await TortureRun(settings: settings, say: { _ in }).run()
        #expect(report.complaints == [])
        #expect(report.isPassed)
        #expect(report.kills >= 12)
        #expect(report.counts > 0 || store == .sqlite)
    }

    @Test func aProgramThatDoesNotStartIsFoundAtOnce() async {
        var settings = TortureSettings(network: .mastodon, store: .sqlite, kills: 1, seed: 1)
        settings.program = "/bin/false"
        let run = TortureRun(settings: settings, say: { _ in })
        let error = await #expect(throws: TestSupportError.self) { _ = try await run.run() }
        #expect(error?.description.hasPrefix("could not train scheduler") ?? false)
    }
}
