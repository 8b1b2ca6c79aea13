package import Posts

extension Action {
    /// The digest of what a person sees of the action.
    ///
    /// A claim by a worker does not change it, because nothing is sent yet.
    package var seen: Seen {
        let shownState = state == .claimed ? .planned : state
        let wording = wording
        return Seen(
            of: kind.rawValue, subject, shownState.rawValue, "\(due.milliseconds)", "\(isPinned)",
            reason?.rawValue,
            wording?.source.value, wording?.text, wording?.warning, wording?.pictures.stored,
            payload.storedRest,
            remoteID, undo?.asked.milliseconds.description, undo?.outcome)
    }
}

extension Seen {
    /// The digest of all slots of a day, independent of their order.
    package init(ofDay slots: [Action]) {
        self.init(ofAll: slots.sorted { ($0.due, $0.subject) < ($1.due, $1.subject) }.map(\.seen))
    }
}
