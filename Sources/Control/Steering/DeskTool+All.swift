import Posts

extension DeskTool {
    /// The operations that a program may request, in the order of their use.
    ///
    /// Operations are missing here if only a person can make a statement that they need. Linking
    /// accounts and stopping the mirror need the statement that somebody agrees or owns an account.
    /// Undoing everything, retiring, removing a mirror and forgetting texts cannot be reverted, and
    /// need a second confirmation.
    package static let all: [DeskTool] =
        pauses + slots + texts + suggestions + actions + people + settings

    /// The operation with a name; nil for none.
    package static func named(_ name: String) -> DeskTool? { all.first { $0.name == name } }

    private static let pauses = [
        DeskTool(
            PauseMirror.self,
            "Pauses the bot: nothing is read, decided or sent until the end of the pause.",
            seen: "pause_seen in status",
            .init(
                "until", \.until,
                "The end: 18:30, 2026-11-24, \"2026-11-24 18:30\", or in 45m, 6h, 3d, 2w. Without it the pause lasts until resume."
            ),
            .init("reason", \.reason, "A note that the status shows.")),
        DeskTool(
            ResumeMirror.self, "Ends a pause; a running worker continues within a minute.",
            seen: "pause_seen in status",
            .init(
                "knowing", \.knowing,
                "Whether to go on although the human's account is a memorial, suspended, deactivated or gone; false if nobody said so."
            )),
    ]

    private static let slot = """
        The slot: 4 for number 4 of today, 2026-11-24#2, tomorrow#2, a time such as 14:05, next, or its id.
        """
    private static let slotSeen = "the slot in plan"

    private static let slots = [
        DeskTool(
            SkipSlot.self, "Skips a slot of the plan; its text may come another day.",
            seen: slotSeen, .init("slot", \.slot, slot)),
        DeskTool(
            RestoreSlot.self, "Sends a skipped slot after all.", seen: slotSeen,
            .init("slot", \.slot, slot)),
        DeskTool(
            MoveSlot.self, "Moves a slot to another time of its day, and pins it.", seen: slotSeen,
            .init("slot", \.slot, slot),
            .init("time", \.time, "Such as 20:15, on the human's clock.")),
        DeskTool(
            PinSlot.self,
            "Keeps a slot as it is whatever is drawn anew, or gives it the text of an archived post.",
            seen: slotSeen, .init("slot", \.slot, slot),
            .init(
                "post", \.post,
                "The address or id of an archived post; without it the slot keeps its text.")),
        DeskTool(
            RerollDay.self, "Draws the plan of a day again; pinned and moved slots stay.",
            seen: "plan, for the whole day", isFinal: true,
            .init("day", \.day, "Today or a later day; today without it."),
            .init("seed", \.seed, "Any text; another text draws another plan.")),
    ]

    private static let post = "The address or id of an archived post."
    private static let textSeen = "the text in texts"

    private static let texts = [
        DeskTool(
            PublishPost.self,
            "Sends an archived post as soon as a worker comes to it, within a minute.",
            seen: textSeen, .init("post", \.post, post)),
        DeskTool(
            NeverSend.self,
            "Excludes a text for good, whichever post it came from; planned slots with it get another one.",
            seen: textSeen, .init("post", \.post, post)),
        DeskTool(
            SendAgain.self, "Lets an excluded text be sent again.", seen: textSeen,
            .init("post", \.post, post)),
        DeskTool(
            KeepText.self, "Notes that a text may be posted; the bot learns from that.",
            seen: textSeen, .init("post", \.post, post)),
        DeskTool(
            UnkeepText.self, "Reverts texts-keep: nothing is learned from the text.",
            seen: textSeen, .init("post", \.post, post)),
    ]

    private static let suggestion = "The id of the suggestion."
    private static let suggestionSeen = "the suggestion in suggestions"

    private static let suggestions = [
        DeskTool(
            ApproveSuggestion.self, "Approves a suggestion, so that a worker carries it out.",
            seen: suggestionSeen, .init("id", \.id, suggestion)),
        DeskTool(
            NoteSuggestionDone.self,
            "Notes that a person gave a suggested favorite themselves, where the bot may not.",
            seen: suggestionSeen, isFinal: true, .init("id", \.id, suggestion)),
        DeskTool(
            DismissSuggestion.self, "Dismisses a suggestion.", seen: suggestionSeen,
            .init("id", \.id, suggestion)),
        DeskTool(
            ReopenSuggestion.self, "Reopens a suggestion that was dismissed.",
            seen: "the action in history", .init("id", \.id, suggestion)),
    ]

    private static let actions = [
        DeskTool(
            AskUndo.self,
            """
            Undoes an action: a waiting one is cancelled, and a worker deletes a sent one at the network. Call it \
            once for each action.
            """, seen: "the action in history", isFinal: true,
            .init("ids", \.ids, "The whole id of one action."))
    ]

    private static let account = """
        An account: user@host on Mastodon, x:12345 on X, a DID such as did:plc:abc on Bluesky.
        """
    private static let personSeen = "the account in person"

    private static let people = [
        DeskTool(
            DenyPeople.self,
            "Denies a person: the bot never answers, favorites or learns from them, and unlearns their posts.",
            seen: personSeen, .init("account", \.account, account)),
        DeskTool(
            AllowPeople.self,
            "Allows a person again; with *@host lifts the denial of that server.",
            seen: "the account in person, or the server in people",
            .init("account", \.account, account + " Or *@host for a server.")),
        DeskTool(
            ForgetPerson.self, "Deletes everything about a person for good.",
            seen: personSeen, isFinal: true, .init("account", \.account, account)),
    ]

    private static let settings = [
        DeskTool(
            SetValues.self,
            "Sets the value of a setting for this mirror. Call it once for each setting.",
            seen: "the setting in config",
            .init("values", \.values, "One value by the name of its setting.")),
        DeskTool(
            UnsetValues.self,
            "Removes the value that was set for a setting. Call it once for each setting.",
            seen: "the setting in config", .init("names", \.names, "The name of one setting.")),
        DeskTool(
            AddZone.self, "Notes that the human lived in another time zone for some time.",
            seen: "zones, for all entries",
            .init("zone", \.zone, "An IANA time zone such as Asia/Tokyo."),
            .init("from", \.from, "The first day; without it the period has no beginning."),
            .init("to", \.to, "The last day; without it the period has no end.")),
        DeskTool(
            RemoveZone.self, "Removes the entry of a time in another zone.",
            seen: "zones, for all entries",
            .init("time", \.time, "Any day of the entry, such as 2019-03-01.")),
    ]
}
