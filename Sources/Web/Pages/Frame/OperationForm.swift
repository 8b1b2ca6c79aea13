import Control

/// The path and the fields of the form that requests an operation.
struct OperationForm {
    /// The path of the route, below `/m/NAME`.
    let path: String
    let fields: [(String, String)]

    private init(_ path: String, _ fields: [(String, String)] = []) {
        self.path = path
        self.fields = fields
    }

    /// - Returns: Nil unless the operation can revert another one and some page has a form for it.
    init?(_ operation: any PersonOperation) {
        switch operation {
        case let skip as SkipSlot: self.init(slot: skip.slot, "skip")
        case let restore as RestoreSlot: self.init(slot: restore.slot, "restore")
        case let move as MoveSlot: self.init(slot: move.slot, "move", [("time", move.time)])
        case let never as NeverSend: self.init("/texts/never", [("post", never.post)])
        case let again as SendAgain: self.init("/texts/allow", [("post", again.post)])
        case let keep as KeepText: self.init("/texts/keep", [("post", keep.post)])
        case let unkeep as UnkeepText: self.init("/texts/unkeep", [("post", unkeep.post)])
        case let forget as ForgetText:
            let path = if case .post = forget.wish { "/texts/forget" } else { "/muted" }
            self.init(path, forget.wish.fields)
        case let remember as RememberText: self.init("/muted/remove", remember.wish.fields)
        case let resume as ResumeMirror:
            self.init("/resume", resume.knowing ? [("knowing", "yes")] : [])
        case let set as SetValues:
            guard set.values.count == 1, let (name, value) = set.values.first else { return nil }
            self.init("/settings", [("name", name), ("value", value)])
        case let unset as UnsetValues:
            guard unset.names.count == 1 else { return nil }
            self.init("/settings", [("unset", unset.names[0])])
        case let add as AddZone:
            let days = [("from", add.from), ("to", add.to)].compactMap { name, day in
                day.map { (name, $0) }
            }
            self.init("/zones", [("zone", add.zone)] + days)
        case let remove as RemoveZone: self.init("/zones/remove", [("day", remove.time)])
        case let allow as AllowPeople: self.init("/people", [("allow", allow.account)])
        case let link as LinkPeople:
            let consent = link.consented == true ? [("consented", "yes")] : []
            self.init(
                "/people/link", [("first", link.first), ("second", link.second)] + consent)
        case let unlink as UnlinkPerson:
            self.init("/people/unlink", [("account", unlink.account)])
        case let reopen as ReopenSuggestion: self.init("/waiting", [("reopen", reopen.id)])
        default: return nil
        }
    }

    private init(slot: String, _ verb: String, _ fields: [(String, String)] = []) {
        self.init("/slots/\(WebFields.encoded(slot))/\(verb)", fields)
    }
}

extension ForgettingWish {
    /// The fields of a form that name what to forget.
    var fields: [(String, String)] {
        switch self {
        case .post(let post): [("post", post)]
        case .word(let word): [("word", word)]
        case .day(let day): [("day", day)]
        case .days(let from, let to): [("from", from)] + (to.map { [("to", $0)] } ?? [])
        }
    }
}
