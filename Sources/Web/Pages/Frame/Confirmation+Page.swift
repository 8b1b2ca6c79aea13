import Posts

extension Confirmation {
    /// The page with the question.
    func page(of request: MirrorRequest) -> PageContent {
        let words = request.words
        let thingContexts = things.map { thing -> PageContext in
            [
                "at": .markup(thing.at.map { words.time($0, showing: words.moment($0)) }),
                "symbol": .text(thing.symbol),
                "what": .text(thing.what), "whom": .account(thing.whom),
                "text": .text(thing.text.map { Words.cut($0) }),
                "language": .text(thing.language.flatMap(LanguageTag.naming)),
            ]
        }
        let fieldsToType = inputs.enumerated().map { index, input -> PageContext in
            [
                "id": .text("i\(index)"), "field": .text(input.field), "label": .text(input.label),
                "value": .text(request.typed(input.field, or: input.usual)),
                "hint": .text(input.hint),
                "isWrong": .flag(index == 0 && request.refusal?.isMisuse == true),
            ]
        }
        var content = PageContent(
            .confirm, title: question, in: section,
            [
                "question": .text(question), "lead": .sentence(lead),
                "things": .list(thingContexts),
                "hasThings": .flag(!things.isEmpty), "notes": .sentences(notes),
                "hasNotes": .flag(!notes.isEmpty),
                "action": .text(request.base + action),
                "token": .markup(request.hidden(seen: seen)),
                "fields": .list(
                    fields.map { name, value in
                        ["name": .text(name), "value": .text(value)] as PageContext
                    }),
                "typed": .fields(
                    typed.map {
                        ["field": .text($0.field), "label": .text($0.label)] as PageContext
                    }),
                "inputs": .list(fieldsToType), "isWrong": .flag(request.refusal?.isMisuse == true),
                "verb": .text(verb), "isGrave": .flag(isGrave), "otherWay": .text(otherWay),
                "back": .text(request.base + back),
            ])
        content.refusal = request.refusal
        return content
    }
}
