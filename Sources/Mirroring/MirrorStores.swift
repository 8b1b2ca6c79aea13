package import Archive
package import Favorites
package import Settings
import Storage

/// The tables of one mirror, each behind the type that owns it.
package struct MirrorStores: Sendable {
    package let archive: Archive
    package let people: People
    /// The labels that a person's decisions give the human's texts.
    package let labels: LabelTable
    /// The mirror's accounts, time zone and starting time.
    package let table: MirrorTable
    /// The progress and the health of each feed.
    package let feeds: FeedTable
    /// The proofs of account ownership by visitors of the public page.
    package let proofs: ProofTable
    /// Changes at the bot's network that are not actions.
    package let effects: EffectTable
    /// The refusals of credentials by the networks, and the faults in the work.
    package let refusals: FaultTable
    /// Stored logins and sessions.
    ///
    /// A scratch mirror uses the real table: a renewed token must be kept.
    package let vault: CredentialVault
    /// The costs of calls.
    ///
    /// A scratch mirror uses the real table: its spending is real.
    package let spending: SpendingTable

    init(
        _ configuration: MirrorSettings, in storage: any StorageEngine, vault: CredentialVault,
        times: ReadTimes
    ) {
        self.init(
            configuration, in: storage, vault: vault,
            spending: SpendingTable(configuration, storage: storage),
            times: times)
    }

    private init(
        _ configuration: MirrorSettings, in storage: any StorageEngine, vault: CredentialVault,
        spending: SpendingTable, times: ReadTimes
    ) {
        let mirror = configuration.mirror
        archive = Archive(storage: storage, mirror: mirror)
        people = People(storage: storage, mirror: mirror)
        labels = LabelTable(storage: storage, mirror: mirror)
        table = MirrorTable(storage: storage, mirror: mirror)
        feeds = FeedTable(storage: storage, mirror: mirror, times: times)
        proofs = ProofTable(storage: storage, mirror: mirror)
        effects = EffectTable(storage: storage, mirror: mirror)
        refusals = FaultTable(storage: storage, mirror: mirror)
        self.vault = vault
        self.spending = spending
    }

    /// The tables of a scratch copy, with the real logins and the real spending.
    func scratch(_ configuration: MirrorSettings, in storage: any StorageEngine) -> MirrorStores {
        MirrorStores(
            configuration, in: storage, vault: vault, spending: spending, times: ReadTimes())
    }
}

/// The stores of the mirror, by name.
extension HumanMirror {
    package var archive: Archive { stores.archive }
    package var people: People { stores.people }
    package var labels: LabelTable { stores.labels }
    package var table: MirrorTable { stores.table }
    package var feeds: FeedTable { stores.feeds }
    package var proofs: ProofTable { stores.proofs }
    package var effects: EffectTable { stores.effects }
    package var refusals: FaultTable { stores.refusals }
    package var vault: CredentialVault { stores.vault }
    package var spending: SpendingTable { stores.spending }
}
