/// Refusals as the different servers write them.
enum MastodonErrors {
    /// What goes back for a refusal.
    static func answer(_ refusal: WireRefusal, _ habits: MastodonHabits) -> WireAnswer {
        var answer: WireAnswer
        if let details = refusal.details {
            // Errors of logins have a form of their own everywhere (RFC 6749, section 5.2).
            answer = .json(
                ["error": .string(refusal.message), "error_description": .string(details)], status: refusal.status)
        } else {
            let form = refusal.status == 401 ? habits.badTokenForm ?? habits.errorForm : habits.errorForm
            answer = written(text(refusal, habits.software), as: form, status: status(refusal, habits))
        }
        answer.headers += refusal.headers
        return answer
    }

    /// The status with which the server refuses.
    static func status(_ refusal: WireRefusal, _ habits: MastodonHabits) -> Int {
        guard refusal.details == nil else { return refusal.status }
        switch refusal.status {
        case 401: return habits.badTokenStatus
        case 422: return habits.validationStatus
        default: return refusal.status
        }
    }

    private static func written(_ text: String, as form: MastodonHabits.ErrorForm, status: Int) -> WireAnswer {
        switch form {
        case .json: .json(["error": .string(text)], status: status)
        case .plainText:
            WireAnswer(
                status: status, headers: [("content-type", "text/plain; charset=utf-8")], body: Array(text.utf8))
        case .html: MastodonPages.page(title: "Error \(status)", paragraph: text, status: status)
        case .empty: WireAnswer(status: status)
        }
    }

    /// The server's own words.
    private static func text(_ refusal: WireRefusal, _ software: MastodonHabits.Software) -> String {
        switch (software, refusal.status) {
        case (.gotosocial, 401): "Unauthorized: token not supplied"
        case (.gotosocial, 403): "Forbidden: token has insufficient scope permission"
        case (.gotosocial, 404): "Not Found: target status not found"
        case (.gotosocial, 422):
            "Bad Request: " + refusal.message.replacing("Validation failed: ", with: "").lowercased()
        case (.gotosocial, 429) where refusal.headers.isEmpty: "rate limit reached"
        case (.pleroma, 401): "Invalid credentials."
        case (.pleroma, 403): "Insufficient permissions: \(refusal.message)."
        case (.pleroma, 429) where refusal.headers.isEmpty: "Throttled"
        case (.takahe, 401): "Invalid Bearer token"
        case (.takahe, 403): "Scope check failed"
        default: refusal.message
        }
    }
}

/// Pages for a person's browser.
enum MastodonPages {
    static func page(title: String, paragraph: String, status: Int = 200) -> WireAnswer {
        page(title: title, body: "<p>\(StatusHTML.escaped(paragraph))</p>", status: status)
    }

    /// A page whose `body` is HTML already.
    static func page(title: String, body: String, status: Int) -> WireAnswer {
        let page = """
            <!DOCTYPE html><html lang="en"><head><title>\(StatusHTML.escaped(title))</title></head>
            <body><h1>\(StatusHTML.escaped(title))</h1>\(body)</body></html>
            """
        return WireAnswer(
            status: status, headers: [("content-type", "text/html; charset=utf-8")], body: Array(page.utf8))
    }
}
