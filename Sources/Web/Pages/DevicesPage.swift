import Control
import Foundation
import Localization
import Mirroring
import Posts
import Settings

/// The devices that get the notices of the mirror, by their browsers' push services.
enum DevicesPage: MirrorPage {
    static let section = PageSection.health
    static let templates = [PageTemplate("devices")]
    static let routes: [MirrorRoute] = [
        .get(path, page), .post(path, add), .post("\(path)/key", makeKey),
        .post("\(path)/remove", remove),
    ]

    private static let path = "/devices"

    private static func table(_ request: MirrorRequest) -> PushDeviceTable {
        PushDeviceTable(of: request.mirror.name, in: request.mirror.installation)
    }

    /// The address of the page in browsers; nil if it is not configured.
    private static func address(_ request: MirrorRequest) -> String? {
        request.mirror.installation.process.web.address
    }

    // MARK: Looking

    private static func page(_ request: MirrorRequest) async throws -> WebReply {
        let table = table(request)
        let identity = try address(request).flatMap { try table.identity(page: $0) }
        let content = context(try await table.all(), identity, of: request)
        return .page(
            PageContent(templates[0], title: localized("Devices"), in: section, at: path, content))
    }

    private static func context(
        _ devices: [PushDevice], _ identity: PushIdentity?, of request: MirrorRequest
    ) -> PageContext {
        let canChange = !request.access.isReadOnly
        let rows = devices.map { device -> PageContext in
            [
                "id": .text(device.id), "name": .text(device.name),
                "added": .markup(
                    request.words.time(device.added, showing: request.words.moment(device.added))),
                "isOver": .flag(device.subscription == nil), "canChange": .flag(canChange),
            ]
        }
        let isAddressed = address(request) != nil
        // The page can make a file with the key, but it cannot set the variable SECRET_KEY.
        let canMakeKey = request.mirror.vault.expectedKeyPlace != Setting.secretKey.name
        return [
            "lack": .sentence(
                missingSetting(isAddressed: isAddressed, hasKey: identity != nil || canMakeKey)),
            "hasDevices": .flag(!devices.isEmpty), "devices": .list(rows),
            "makesKey": .flag(canChange && isAddressed && identity == nil && canMakeKey),
            "key": .text(canChange ? identity?.publicKey : nil),
            "token": .markup(request.hidden()), "base": .text(request.base),
            "typedName": .text(request.typed("name")),
            "longest": .number(PushDeviceTable.longestName),
            "script": .text(WebAsset.push.address),
        ]
    }

    /// The reason why no device can be added; nil if one can.
    private static func missingSetting(isAddressed: Bool, hasKey: Bool) -> String? {
        if !isAddressed {
            return localized(
                "To add a device, set WEB_ADDRESS to the address of this page, with https.")
        }
        return hasKey ? nil : localized("To add a device, set SECRET_KEY: it signs the messages.")
    }

    // MARK: Changing

    private static func add(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            guard let address = address(request) else {
                throw ChangeRefusal(.notAllowed, localized("WEB_ADDRESS is not set"))
            }
            guard
                let subscription = PushSubscription(
                    endpoint: request.form["endpoint"] ?? "", key: request.form["p256dh"] ?? "",
                    secret: request.form["auth"] ?? "", page: address)
            else {
                throw ChangeRefusal(
                    .unusable,
                    localized("the browser named no push service to which a message can be sent"))
            }
            let table = table(request)
            let device = try await table.add(
                subscription, name: request.form["name"] ?? "", now: request.now)
            return .seeOther(
                request.base + path,
                saying: Said(try await welcome(device, subscription, address, request)))
        }
    }

    /// Sends a first message, so that a person sees whether it arrives.
    ///
    /// - Returns: The sentence about it.
    private static func welcome(
        _ device: PushDevice, _ subscription: PushSubscription, _ address: String,
        _ request: MirrorRequest
    ) async throws -> String {
        let table = table(request)
        guard let identity = try table.identity(page: address, mayMake: true) else {
            throw ChangeRefusal(
                .notAllowed, localized("there is no key to sign with; set SECRET_KEY"))
        }
        let notice = Notice.test(
            of: request.mirror.name, now: request.now, asker: localized("the page with the devices")
        )
        let answer = await PushSender(request.mirror.installation.client).send(
            notice, with: NoticeControls(opening: request.base + path, at: address),
            to: subscription, by: identity)
        switch answer {
        case .taken:
            return localized("The device gets the notifications. A first message is on its way.")
        case .gone:
            try await table.remove(device.id)
            throw ChangeRefusal(
                .over, localized("the push service knows no such browser; add it again"))
        case .refused(let problem):
            return localized(
                "The device was added, but the first message did not arrive: \(problem).")
        }
    }

    private static func makeKey(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            _ = try table(request).identity(page: address(request) ?? "", mayMake: true)
            return .seeOther(request.base + path, saying: Said(localized("The key is made.")))
        }
    }

    private static func remove(_ request: MirrorRequest) async throws -> WebReply {
        try await request.attempt(refusedBy: page) {
            guard try await table(request).remove(request.form["device"] ?? "") else {
                throw ChangeRefusal(.unknown, localized("there is no such device any more"))
            }
            return .seeOther(
                request.base + path, saying: Said(localized("The device gets nothing any more.")))
        }
    }
}
