import Mirroring

/// What a run is confined to, to show one thing quickly; usually nothing.
struct EpisodeFilter: Sendable {
    /// Only episodes of these sorts; empty for all.
    var kinds: [EpisodeKind] = []
    /// Only these fault points; empty for all.
    var points: [FaultPoint] = []
    /// Only these faults of the network, in every episode from its beginning; empty for what is
    /// drawn.
    var networkFaults: [NetworkFault.Kind] = []
    /// Only these outcries, one in every episode; empty for what is drawn, and where anything is
    /// confined for none.
    var outcries: [Outcry.Kind] = []
    /// Single objects are refused although the run is confined.
    var refusesObjects = false

    var isEmpty: Bool {
        kinds.isEmpty && points.isEmpty && networkFaults.isEmpty && outcries.isEmpty
    }
}
