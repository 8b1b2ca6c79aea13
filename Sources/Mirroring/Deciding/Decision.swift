package import Archive
package import Outbox

/// A decision that is stored, with what it was made from.
package struct Decision: Sendable {
    package let action: Action
    /// The mirror's version at the moment when the facts were read; nil if it is not known.
    package let version: Int64?
    /// The post whose text the action uses, as it was at that moment; nil if it is not known.
    package let source: Archive.Original?

    package init(of action: Action, asOf version: Int64? = nil, source: Archive.Original? = nil) {
        self.action = action
        self.version = version
        self.source = source
    }
}
